import Cache
import Formats
import HTTP
import Model
import Numbers
import Scheduling
import Synchronization

/// Fetches a thumbnail of the gallery into the cache's table of thumbnails.
public struct ThumbnailRequest: PictureRequest, TransferRequest {
    let picture: PictureSubject

    /// The maximum number of bytes of a thumbnail. Real thumbnails are smaller, and this many bytes fit into memory.
    static let limit: ByteCount = 4 << 20

    /// Creates a request for a thumbnail that the gallery offers. Returns nil if the gallery offers no thumbnail, or if
    /// the thumbnail is not missing.
    public static func make(for subject: Wish.Subject, in context: RequestContext) throws -> Self? {
        guard case .picture(let gallery, let key, .thumbnail) = subject else { return nil }
        return try PictureSubject(.thumbnail, of: key, in: gallery, context).map(Self.init)
    }

    /// The kind of transfer: a thumbnail, which is small and one of many.
    public var kind: TransferKind { .thumbnail }

    /// Returns a plan that fetches the thumbnail into memory.
    public func plan() throws -> FetchPlan {
        var plan = try picture.plan(limit: Self.limit)
        plan.validators = picture.validators
        return plan
    }

    /// Stores the thumbnail, unless the gallery's list names another thumbnail by then.
    public func process(_ response: inout Response) async throws {
        guard !response.isUnchanged else { return try await picture.confirm() }
        try response.checkIsNoText()
        let bytes = try await response.allBytes()
        try RequestError.checkIsPicture(bytes, at: picture.address)
        try Task.checkCancellation()
        let isStored = try await picture.cache.writer.store(
            thumbnail: bytes, of: picture.key, edition: picture.source.state.edition, validators: response.validators)
        if isStored { picture.context.log.debug(.sync, "stored thumbnail \(picture.key.rawValue)") }
    }
}

/// Fetches the first bytes of a photo, because cameras write a thumbnail there.
///
/// This request serves photos of servers that offer no thumbnails. The first bytes of a HEIC file may only tell where
/// the thumbnail is, or where the list with its position is. Further requests of this type then fetch the rest. If a
/// photo contains no thumbnail, a ``PhotoRequest`` follows if the photo is small. A large photo has no thumbnail until
/// the user opens it.
public struct EmbeddedThumbnailRequest: PictureRequest, TransferRequest {
    let picture: PictureSubject
    /// The photo whose first bytes arrived earlier; nil for a new photo.
    private let begun: BegunPhotos.Photo?

    /// The maximum size of a photo fetched whole for its thumbnail.
    private static let smallPhoto: ByteCount = 512 << 10

    /// Creates a request for a thumbnail without an address. Returns nil if the thumbnail is not missing, or if the
    /// whole photo must be fetched instead.
    public static func make(for subject: Wish.Subject, in context: RequestContext) throws -> Self? {
        guard case .picture(let gallery, let key, .thumbnail) = subject else { return nil }
        return try PictureSubject(thumbnailInPhoto: key, in: gallery, context).map(Self.init)
    }

    private init(_ picture: PictureSubject) {
        self.picture = picture
        begun = picture.context.begunPhotos[picture.identity]
    }

    /// The kind of transfer: a thumbnail, which is small and one of many.
    public var kind: TransferKind { .thumbnail }
    /// True, because a request for more bytes or the photo may follow.
    public let mayBeFollowed = true

    /// The bytes to fetch: the photo's beginning, or its next part.
    private var range: Range<ByteCount> {
        if let missing = begun?.heif?.missing { return missing }
        let isShort = begun == nil && PictureName.isHEIF(path: address.path)
        return 0..<ByteCount(isShort ? HEIFThumbnail.reach : EmbeddedThumbnail.reach)
    }

    /// Returns a plan that fetches a part of the photo into memory.
    public func plan() throws -> FetchPlan {
        var plan = try picture.plan(limit: range.upperBound)
        plan.wantedBytes = range
        return plan
    }

    /// Stores the thumbnail, or records that the photo has none. If more bytes are needed, keeps the data for the next
    /// request. Stores nothing if the gallery has another edition of the photo by then.
    public func process(_ response: inout Response) async throws {
        if let begun, let heif = begun.heif { return try await go(on: begun, heif, &response) }
        try response.checkIsNoText()
        let bytes = try await response.allBytes()
        try RequestError.checkIsPicture(bytes, at: picture.address)
        try Task.checkCancellation()
        // If these are all bytes of the photo, the photo is its own thumbnail.
        let isWhole =
            response.head.length.map { $0 == ByteCount(bytes.count) } ?? (ByteCount(bytes.count) < range.length)
        let heif = HEIFThumbnail(inPhoto: bytes)
        // Some programs give other photos the name of a HEIC file.
        let isTooShort = range.length < ByteCount(EmbeddedThumbnail.reach) && PictureSignature(bytes) != .heif
        if !isWhole, response.head.status == 206, heif?.missing != nil || isTooShort {
            picture.context.begunPhotos[identity] = BegunPhotos.Photo(
                heif: heif, length: response.head.length, validators: response.validators)
            return
        }
        picture.context.begunPhotos[identity] = nil
        let embedded = heif?.embedded ?? EmbeddedThumbnail(inPhoto: bytes)
        try await store(isWhole ? bytes : embedded.picture, takenAt: embedded.takenAt, photo: response.head.length)
    }

    /// Adds the next part of a HEIC photo. Stores the thumbnail when it is complete.
    private func go(
        on photo: BegunPhotos.Photo, _ known: HEIFThumbnail, _ response: inout Response
    ) async throws {
        var part: [UInt8] = []
        // Parts of different versions of the photo must not be combined.
        if response.head.status == 206, response.head.length == photo.length, response.validators == photo.validators {
            try response.checkIsNoText()
            part = try await response.allBytes()
        }
        try Task.checkCancellation()
        var heif = known
        if let range = heif.missing { heif.add(part, at: range.lowerBound) }
        guard heif.missing == nil else {
            picture.context.begunPhotos[identity] = BegunPhotos.Photo(
                heif: heif, length: photo.length, validators: photo.validators)
            return
        }
        picture.context.begunPhotos[identity] = nil
        let embedded = heif.embedded
        try await store(embedded.picture, takenAt: embedded.takenAt, photo: photo.length)
    }

    private func store(_ thumbnail: [UInt8]?, takenAt: String?, photo length: ByteCount?) async throws {
        let taken = takenAt.flatMap { Timestamp(localTime: $0) }
        let (key, edition) = (picture.key, picture.source.state.edition)
        if let thumbnail {
            try await picture.cache.writer.store(thumbnail: thumbnail, of: key, edition: edition, taken: taken)
        } else {
            let isSmall = length.map { $0 <= Self.smallPhoto } ?? false
            try await picture.cache.writer.recordNoThumbnail(of: key, edition: edition, isSmall: isSmall, taken: taken)
        }
    }

    /// Marks the thumbnail as failed, or for a retry on another day. If only the photo's time is missing, stores the
    /// thumbnail instead.
    public func recordFailure(_ failure: Failure) async {
        picture.context.begunPhotos[identity] = nil
        if let thumbnail = begun?.heif?.embedded.picture,
            (try? await store(thumbnail, takenAt: nil, photo: begun?.length)) != nil
        {
            return
        }
        await picture.recordFailure(failure)
    }
}

/// The photos of which Vitrine will fetch more bytes.
final class BegunPhotos: Sendable {
    struct Photo: Sendable {
        /// The items of a HEIC photo. The value is nil for a photo of another format with a HEIC file's name.
        let heif: HEIFThumbnail?
        /// The length of the whole file; nil if unknown.
        let length: ByteCount?
        let validators: Validators
    }

    private let photos = Mutex<[RequestIdentity: Photo]>([:])

    /// The maximum number of photos. Each holds up to 150 KB, and usually a few KB. The next request follows at once,
    /// so there are rarely more photos than running transfers.
    private static let most = 512

    subscript(identity: RequestIdentity) -> Photo? {
        get { photos.withLock { $0[identity] } }
        set {
            photos.withLock { photos in
                // The first bytes of forgotten photos are fetched again.
                if newValue != nil, photos.count >= Self.most { photos = [:] }
                photos[identity] = newValue
            }
        }
    }
}
