import Cache
import HTTP
import Logging
import Model
import Numbers
import Scheduling
import Session

/// Fetches a photo into a file of the cache.
///
/// It also serves the wish for a thumbnail that the gallery does not have: one is made from the photo, once that is here.
public struct PhotoRequest: NetworkRequest {
    private let picture: PictureSubject

    /// More than any camera writes.
    static let limit: ByteCount = 512 << 20

    /// Serves wishes for photos, and for thumbnails of photos that have none.
    public static func make(for subject: Wish.Subject, in context: RequestContext) throws -> Self? {
        guard case .picture(let gallery, let key, let rendition) = subject else { return nil }
        if rendition == .thumbnail {
            let source = try context.caches.cache(gallery)?.read { try $0.wantingSource(of: key, .thumbnail) }
            guard let source, source.address == nil else { return nil }
        }
        return try PictureSubject(.original, of: key, in: gallery, context).map(Self.init)
    }

    private init(_ picture: PictureSubject) {
        self.picture = picture
    }

    /// The photo, in the edition that the list spoke of when the request was made.
    public var identity: RequestIdentity { picture.identity }
    /// Where it lies.
    public var address: Address { picture.address }
    /// One of few, and large.
    public var kind: TransferKind { .photo }
    /// Whether it lies with the gallery, or where the user has signed in for the gallery.
    public var isNamedByUser: Bool { picture.isNamedByUser }
    /// Whether it was put off before.
    public var hasFailedBefore: Bool { picture.source.state.trouble != nil }

    /// What has come of it before.
    public var held: ByteCount { picture.cache.parts.size(picture.key, edition: picture.source.state.edition) }

    /// Asks for it, into a new file, or for the rest of what has come before.
    public func plan() throws -> FetchPlan {
        let addressPolicy = try picture.cache.pictureAddressPolicy()
        guard let part = picture.cache.parts.take(picture.key, edition: picture.source.state.edition) else {
            return FetchPlan(
                address: picture.address, signIn: picture.signIn, validators: picture.validators, limit: Self.limit,
                file: try picture.cache.files.makePartial(), addressPolicy: addressPolicy,
                isNamedByUser: picture.isNamedByUser)
        }
        return FetchPlan(
            address: picture.address, signIn: picture.signIn, limit: Self.limit, file: part.file,
            resumption: HTTPRequest.Resumption(
                offset: part.size, validator: part.validator, url: part.url, whole: part.whole),
            addressPolicy: addressPolicy, isNamedByUser: picture.isNamedByUser)
    }

    /// Keeps the beginning that the plan was to go on from, for the next attempt.
    public func takeBack(_ plan: FetchPlan) {
        guard let file = plan.file, let resumption = plan.resumption else { return }
        picture.cache.parts.keep(
            file, of: picture.key, edition: picture.source.state.edition, validator: resumption.validator,
            url: resumption.url ?? plan.address.text, whole: resumption.whole)
    }

    /// Watches the file grow, then gives it to the cache, unless the gallery speaks of another photo by now.
    public func process(_ response: inout Response) async throws {
        guard !response.isUnchanged else { return try await picture.confirm() }
        try response.checkIsNoText()
        guard let file = response.file else { return }
        picture.cache.parts.recordGrowth(file, of: picture.key, edition: picture.source.state.edition)
        do {
            while let written = try await response.nextWritten() {
                picture.noteProgress(Progress(done: written, total: response.head.length))
            }
        } catch {
            if RequestError(error).isBreak || error is CancellationError { keep(file, response.head) }
            throw error
        }
        guard PictureSignature(file.beginning(PictureSignature.length)) != nil else {
            throw RequestError.wrongType("something that is no picture")
        }
        try Task.checkCancellation()
        let isStored = try await picture.cache.writer.store(
            photo: file, of: picture.key, edition: picture.source.state.edition, validators: response.validators)
        if isStored { picture.context.log.debug(.sync, "stored photo \(picture.key.rawValue)") }
    }

    /// Keeps what has come over the network, for the next attempt to go on from.
    ///
    /// Nobody writes into the file any more, whatever thread the next attempt is on: a transfer that has ended, or was
    /// cancelled, does not. Of a file of this machine nothing is kept, since it is always read from its beginning.
    private func keep(_ file: PartialFile, _ head: HTTPResponse) {
        guard picture.address.scheme != .file else { return }
        picture.cache.parts.keep(
            file, of: picture.key, edition: picture.source.state.edition, validator: head.resumptionValidator,
            url: head.url, whole: head.length)
    }

    /// Shows that it is on its way.
    public func noteBegun() {
        picture.noteProgress(Progress(done: 0))
    }

    /// Shows that it is not on its way any more.
    public func noteDone() {
        picture.noteProgress(nil)
    }

    /// Marks the photo as put off.
    public func notePutOff(_ failure: Failure) async {
        await picture.note(.putOff(failure))
    }

    /// Shows that it is not on its way for now.
    public func noteWaiting(_ failure: Failure, until time: Timestamp?) {
        picture.noteProgress(nil)
    }

    /// Marks the photo as bad, or as put off where another day may bring it.
    public func noteFailed(_ failure: Failure) async {
        await picture.noteFailed(failure)
    }

    /// Shows that it is not on its way any more.
    public func noteCancelled() {
        picture.noteProgress(nil)
    }
}

/// The picture that a request is about, and what all requests for pictures note alike.
struct PictureSubject: Sendable {
    let cache: GalleryCache
    let key: PhotoKey
    let rendition: Rendition
    let source: RenditionSource
    let address: Address
    /// Who asks.
    let signIn: SignIn?
    let context: RequestContext

    /// The picture, if it has an address and is wanting.
    init?(
        _ rendition: Rendition, of key: PhotoKey, in gallery: GalleryID, _ context: RequestContext
    ) throws {
        guard let cache = context.caches.cache(gallery),
            let source = try cache.read({ try $0.wantingSource(of: key, rendition) }), let address = source.address
        else { return nil }
        self.cache = cache
        self.key = key
        self.rendition = rendition
        self.source = source
        signIn = cache.signIn(for: address)
        self.address = address
        self.context = context
    }

    /// Whether the user himself has named where it lies.
    var isNamedByUser: Bool { cache.isNamedByUser(address) }

    var identity: RequestIdentity { RequestIdentity(wish, edition: source.state.edition) }

    var wish: Wish.Subject { .picture(cache.id, key, rendition) }

    /// What is held may still be right, if it came from the same address.
    var validators: Validators { source.state.held == nil ? Validators() : source.validators }

    func noteProgress(_ progress: Progress?) {
        context.activity.setProgress(progress, of: wish)
    }

    /// The server says that what is held is right.
    func confirm() async throws {
        guard try await cache.writer.confirm(rendition, of: key, edition: source.state.edition) else {
            throw RequestError.nothingHeld
        }
    }

    /// Notes why it has failed for good: as bad, or as put off where another day may bring it.
    func noteFailed(_ failure: Failure) async {
        await note(failure.isTemporary ? .putOff(failure) : .bad(failure))
        await context.note(failure.question, afterSaying: signIn, in: cache)
    }

    func note(_ trouble: RenditionState.Trouble) async {
        switch trouble {
        case .putOff(let failure): context.log.info(.network, "\(address): \(failure); to be tried again")
        case .bad(let failure): context.log.error(.network, "\(address): \(failure)")
        }
        do {
            try await cache.writer.recordTrouble(trouble, for: rendition, of: key, edition: source.state.edition)
        } catch {
            context.log.error(.cache, "\(error)")
            // Of a thumbnail nobody asks why; and there may be many.
            guard rendition == .original else { return }
            switch trouble {
            case .putOff(let failure), .bad(let failure): context.activity.setFailure(failure, of: wish)
            }
        }
    }
}
