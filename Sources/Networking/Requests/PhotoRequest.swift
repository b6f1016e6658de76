import Cache
import HTTP
import Logging
import Model
import Numbers
import Scheduling
import Session

/// Fetches a photo into a file of the cache.
///
/// The request also serves the wish for a thumbnail that the gallery lacks: Vitrine makes it from the photo.
public struct PhotoRequest: PictureRequest, TransferRequest {
    let picture: PictureSubject

    /// The maximum number of bytes of a photo. No camera makes larger files.
    static let limit: ByteCount = 512 << 20
    /// The maximum number of bytes of a video that the user saves.
    static let videoLimit: ByteCount = 16 << 30

    /// Creates a request for a photo. The wish may be for a thumbnail that Vitrine makes from the photo.
    public static func make(for subject: Wish.Subject, in context: RequestContext) throws -> Self? {
        guard case .picture(let gallery, let key, let rendition) = subject else { return nil }
        if rendition == .thumbnail {
            let source = try context.caches.cache(gallery)?.read { try $0.wantingSource(of: key, .thumbnail) }
            guard let source, source.address == nil else { return nil }
        }
        return try PictureSubject(.original, of: key, in: gallery, context).map(Self.init)
    }

    /// The kind of transfer: a photo, which is rare and large.
    public var kind: TransferKind { .photo }

    /// The number of bytes that an interrupted attempt left.
    public var held: ByteCount { picture.cache.parts.size(picture.key, edition: picture.source.state.edition) }

    /// Returns a plan for the whole photo, or for the rest of an interrupted transfer.
    public func plan() throws -> FetchPlan {
        let isVideo = try picture.cache.read { try $0.photo(picture.key) }?.isRemoteVideo == true
        var plan = try picture.plan(limit: isVideo ? Self.videoLimit : Self.limit)
        // Take the partial file last, because a later error would lose it.
        if let part = picture.cache.parts.take(picture.key, edition: picture.source.state.edition) {
            plan.file = part.file
            plan.resumption = HTTPRequest.Resumption(
                offset: part.size, validator: part.validator, url: part.url, whole: part.whole)
        } else {
            plan.file = try picture.cache.files.makePartial(
                of: picture.key, edition: picture.source.state.edition)
            plan.validators = picture.validators
        }
        return plan
    }

    /// Keeps the partial file for the next attempt.
    public func takeBack(_ plan: FetchPlan) {
        guard let file = plan.file, let resumption = plan.resumption else { return }
        picture.cache.parts.keep(
            file, of: picture.key, edition: picture.source.state.edition, validator: resumption.validator,
            url: resumption.url ?? plan.address.text, whole: resumption.whole)
    }

    /// Shows the file's growth and stores the photo. Stores nothing if the gallery's list names another photo by then.
    public func process(_ response: inout Response) async throws {
        guard !response.isUnchanged else { return try await picture.confirm() }
        try response.checkIsNoText()
        guard let file = response.file else { return }
        picture.cache.parts.writeNote(
            of: picture.key, edition: picture.source.state.edition, resumption(response.head), to: file)
        var isChecked = false
        do {
            while let written = try await response.nextWritten() {
                if !isChecked, written >= ByteCount(PictureSignature.length) {
                    try check(file)
                    isChecked = true
                }
                picture.showProgress(Progress(done: written, total: response.head.length))
            }
        } catch {
            let failure = RequestError(error)
            // A refusal after the first bytes concerns a later part.
            if failure.isBreak || failure.isRefusalOfBusyServer || error is CancellationError {
                keep(file, response.head)
            }
            throw error
        }
        if !isChecked { try check(file) }
        try Task.checkCancellation()
        let isStored = try await picture.cache.writer.store(
            photo: file, of: picture.key, edition: picture.source.state.edition, validators: response.validators)
        if isStored { picture.context.log.debug(.sync, "stored photo \(picture.key.rawValue)") }
    }

    /// Throws if a file does not begin like a picture. Some servers send endless text in place of a photo.
    private func check(_ file: PartialFile) throws {
        try RequestError.checkIsPictureOrVideo(file.beginning(PictureSignature.length), at: picture.address)
    }

    /// Returns the data to resume the transfer in another process. Returns nil if that is impossible.
    ///
    /// After a redirect, or with a token, the address that answered may contain a secret that must not reach a disk.
    private func resumption(_ head: HTTPResponse) -> PartResumption? {
        guard picture.address.scheme != .file, head.url == picture.address.text,
            let validator = head.resumptionValidator
        else { return nil }
        return PartResumption(address: picture.address, validator: validator, whole: head.length)
    }

    /// Keeps the received part for the next attempt.
    ///
    /// No thread writes to the file any more, because the transfer has ended or was cancelled. Local files are always
    /// read from the beginning, so the cache keeps no part of them.
    private func keep(_ file: PartialFile, _ head: HTTPResponse) {
        guard picture.address.scheme != .file else { return }
        picture.cache.parts.keep(
            file, of: picture.key, edition: picture.source.state.edition, validator: head.resumptionValidator,
            url: head.url, whole: head.length)
    }

    /// Shows that the transfer has started.
    public func showStarted() {
        picture.showProgress(Progress(done: 0))
    }

    /// Shows that the transfer has ended.
    public func showDone() {
        picture.showProgress(nil)
    }

    /// Shows that no transfer of the photo runs for now.
    public func showWaiting(_ failure: Failure, until time: Timestamp?) {
        picture.showProgress(nil)
    }

    /// Shows that the transfer has ended.
    public func showCancelled() {
        picture.showProgress(nil)
    }
}

/// A request for one picture of a gallery.
protocol PictureRequest: NetworkRequest {
    var picture: PictureSubject { get }
}

extension PictureRequest {
    /// The picture, in its edition when this request was made.
    public var identity: RequestIdentity { picture.identity }

    /// The address of the picture, or of the photo that contains the thumbnail.
    public var address: Address { picture.address }

    /// Whether the user has named the picture's server or signed in to it.
    public var isNamedByUser: Bool { picture.isNamedByUser }

    /// Whether an earlier attempt failed.
    public var hasFailedBefore: Bool { picture.source.state.trouble != nil }

    /// Marks the picture for a retry.
    public func recordPostponement(_ failure: Failure) async {
        await picture.record(.putOff(failure))
    }

    /// Marks the picture as failed, or for a retry on another day.
    public func recordFailure(_ failure: Failure) async {
        await picture.recordFailure(failure)
    }
}

/// A picture to fetch, and the steps common to photos and thumbnails.
struct PictureSubject: Sendable {
    let cache: GalleryCache
    let key: PhotoKey
    let rendition: Rendition
    let source: RenditionSource
    let address: Address
    /// The credentials to send; nil for no credentials.
    let signIn: SignIn?
    let context: RequestContext

    /// Finds the picture. Returns nil if the picture has no address, or is not missing.
    init?(
        _ rendition: Rendition, of key: PhotoKey, in gallery: GalleryID, _ context: RequestContext
    ) throws {
        guard let cache = context.caches.cache(gallery),
            let source = try cache.read({ try $0.wantingSource(of: key, rendition) }), let address = source.address
        else { return nil }
        self.init(rendition, of: key, in: cache, source, at: address, context)
    }

    /// Finds a thumbnail that may be in a server photo's first bytes. Returns nil if the thumbnail is not missing, or
    /// if Vitrine must fetch the whole photo.
    init?(thumbnailInPhoto key: PhotoKey, in gallery: GalleryID, _ context: RequestContext) throws {
        guard let cache = context.caches.cache(gallery), cache.address.scheme != .file,
            let source = try cache.read({ try $0.embeddedThumbnailSource(of: key) }), let address = source.address
        else { return nil }
        self.init(.thumbnail, of: key, in: cache, source, at: address, context)
    }

    private init(
        _ rendition: Rendition, of key: PhotoKey, in cache: GalleryCache, _ source: RenditionSource,
        at address: Address, _ context: RequestContext
    ) {
        self.cache = cache
        self.key = key
        self.rendition = rendition
        self.source = source
        signIn = ImmichRules.shareSignIn(for: address, in: cache.address) ?? cache.signIn(for: address)
        self.address = address
        self.context = context
    }

    /// Returns a plan for the picture, with the rules of its gallery.
    func plan(limit: ByteCount) throws -> FetchPlan {
        let record = try cache.address.scheme == .file ? nil : cache.read { try $0.gallery() }
        var plan = FetchPlan(
            address: address, signIn: signIn, limit: limit,
            addressPolicy: cache.pictureAddressPolicy(record, for: address), isNamedByUser: isNamedByUser)
        switch record?.kind {
        // Other lists may name pictures in strangers' buckets, so only a gallery in a bucket may ask for access keys.
        case .s3: plan.refusals = .asked(isOfBucket: true)
        // A list that needed a key is in a bucket, and so are the pictures on its server.
        case .list:
            if let source = try cache.read({ try $0.source() }), source.wasSignedIn,
                source.root.origin == address.origin
            {
                plan.refusals = .asked(isOfBucket: true)
            }
        case .photoPrism:
            plan.tokens = context.tokens
            if let share = PhotoPrismShare(cache.address),
                PhotoPrismRules.server(ofPicture: address).map(share.isOn) == true
            {
                (plan.share, plan.signIn) = (share, nil)
            }
        case .piwigo: if PiwigoRules.opensSession(signIn) { plan.sessions = context.sessions }
        default: break
        }
        return plan
    }

    /// Whether the user has named the picture's server or signed in to it.
    var isNamedByUser: Bool { cache.isNamedByUser(address) }

    var identity: RequestIdentity { RequestIdentity(wish, edition: source.state.edition) }

    var wish: Wish.Subject { .picture(cache.id, key, rendition) }

    /// The server's validators for the cached copy; none without a copy. They exist only if the copy came from the same
    /// address.
    var validators: Validators { source.state.held == nil ? Validators() : source.validators }

    func showProgress(_ progress: Progress?) {
        context.activity.setProgress(progress, of: wish)
    }

    /// Marks the cached copy as current, after a 304 (Not Modified).
    func confirm() async throws {
        guard try await cache.writer.confirm(rendition, of: key, edition: source.state.edition) else {
            throw RequestError.nothingHeld
        }
    }

    /// Records a final failure, or a retry on another day. Asks the user for credentials if the server requires them.
    func recordFailure(_ failure: Failure) async {
        await record(failure.isTemporary ? .putOff(failure) : .bad(failure))
        await context.ask(failure.question, afterSaying: signIn, in: cache)
    }

    func record(_ trouble: RenditionState.Trouble) async {
        switch trouble {
        case .putOff(let failure): context.log.info(.network, "\(address): \(failure); will retry")
        case .bad(let failure): context.log.error(.network, "\(address): \(failure)")
        }
        do {
            try await cache.writer.recordTrouble(trouble, for: rendition, of: key, edition: source.state.edition)
        } catch {
            context.log.error(.cache, "\(error)")
            // Thumbnails are many, and no screen shows their failures.
            guard rendition == .original else { return }
            context.activity.setFailure(trouble.failure, of: wish)
        }
    }
}

extension GalleryCache {
    /// Whether no failure is recorded for a rendition. Also true if the photo is no longer in the gallery. A photo's
    /// failure counts for its thumbnail, too.
    func isWell(_ key: PhotoKey, _ rendition: Rendition) -> Bool {
        do {
            guard let photo = try read({ try $0.photo(key) }) else { return true }
            return photo.original.trouble == nil && (rendition == .original || photo.thumbnail.trouble == nil)
        } catch {
            return false
        }
    }
}
