import Cache
import Formats
import HTTP
import Model
import Numbers
import Scheduling

/// Fetches a thumbnail of the gallery into the cache's table of thumbnails.
public struct ThumbnailRequest: TransferRequest {
    private let picture: PictureSubject

    /// The most bytes of a thumbnail. No real thumbnail has more bytes, and memory is enough for this many.
    static let limit: ByteCount = 4 << 20

    /// Creates a request for a thumbnail that the gallery offers. Returns nil if the gallery offers no thumbnail, or if
    /// the thumbnail is not missing.
    public static func make(for subject: Wish.Subject, in context: RequestContext) throws -> Self? {
        guard case .picture(let gallery, let key, .thumbnail) = subject else { return nil }
        return try PictureSubject(.thumbnail, of: key, in: gallery, context).map(Self.init)
    }

    private init(_ picture: PictureSubject) {
        self.picture = picture
    }

    /// The thumbnail in its edition of the list at the time of the request.
    public var identity: RequestIdentity { picture.identity }
    /// The address of the thumbnail.
    public var address: Address { picture.address }
    /// The kind of transfer: a thumbnail, which is small and one of many.
    public var kind: TransferKind { .thumbnail }
    /// Whether the user has named the thumbnail's server or signed in to it.
    public var isNamedByUser: Bool { picture.isNamedByUser }
    /// Whether an earlier attempt failed.
    public var hasFailedBefore: Bool { picture.source.state.trouble != nil }

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
        try RequestError.checkIsPicture(bytes)
        try Task.checkCancellation()
        let isStored = try await picture.cache.writer.store(
            thumbnail: bytes, of: picture.key, edition: picture.source.state.edition, validators: response.validators)
        if isStored { picture.context.log.debug(.sync, "stored thumbnail \(picture.key.rawValue)") }
    }

    /// Marks the thumbnail for a retry.
    public func recordPostponement(_ failure: Failure) async {
        await picture.record(.putOff(failure))
    }

    /// Marks the thumbnail as failed, or for a retry on another day.
    public func recordFailure(_ failure: Failure) async {
        await picture.recordFailure(failure)
    }
}

/// Fetches the first bytes of a photo, because cameras write a thumbnail there.
///
/// This request serves photos of servers that offer no thumbnails. If the bytes contain none, a ``PhotoRequest`` follows
/// for a small photo; a large one has no thumbnail until the user opens it.
public struct EmbeddedThumbnailRequest: TransferRequest {
    private let picture: PictureSubject

    /// The most bytes of a photo that is fetched whole to make its thumbnail.
    private static let smallPhoto: ByteCount = 512 << 10

    /// Creates a request for a thumbnail without an address. Returns nil if the whole photo must be fetched instead.
    public static func make(for subject: Wish.Subject, in context: RequestContext) throws -> Self? {
        guard case .picture(let gallery, let key, .thumbnail) = subject else { return nil }
        return try PictureSubject(thumbnailInPhoto: key, in: gallery, context).map(Self.init)
    }

    private init(_ picture: PictureSubject) {
        self.picture = picture
    }

    /// The thumbnail in its edition of the list at the time of the request.
    public var identity: RequestIdentity { picture.identity }
    /// The address of the photo.
    public var address: Address { picture.address }
    /// The kind of transfer: a thumbnail, which is small and one of many.
    public var kind: TransferKind { .thumbnail }
    /// Whether the user has named the photo's server or signed in to it.
    public var isNamedByUser: Bool { picture.isNamedByUser }
    /// Whether an earlier attempt failed.
    public var hasFailedBefore: Bool { picture.source.state.trouble != nil }
    /// The photo itself may have to follow.
    public let mayBeFollowed = true

    /// Returns a plan that fetches the first bytes into memory.
    public func plan() throws -> FetchPlan {
        let reach = ByteCount(EmbeddedThumbnail.reach)
        var plan = try picture.plan(limit: reach)
        plan.firstBytes = reach
        return plan
    }

    /// Stores the thumbnail, or records that there is none. Does nothing if the gallery has another edition by then.
    public func process(_ response: inout Response) async throws {
        try response.checkIsNoText()
        let bytes = try await response.allBytes()
        try RequestError.checkIsPicture(bytes)
        try Task.checkCancellation()
        let embedded = EmbeddedThumbnail(inPhoto: bytes)
        let taken = embedded.takenAt.flatMap { Timestamp(localTime: $0) }
        let (key, edition) = (picture.key, picture.source.state.edition)
        // A photo of so few bytes is its own thumbnail.
        let isWhole =
            response.head.length.map { $0 == ByteCount(bytes.count) } ?? (bytes.count < EmbeddedThumbnail.reach)
        if let thumbnail = isWhole ? bytes : embedded.picture {
            try await picture.cache.writer.store(thumbnail: thumbnail, of: key, edition: edition, taken: taken)
        } else {
            let isSmall = response.head.length.map { $0 <= Self.smallPhoto } ?? false
            try await picture.cache.writer.recordNoThumbnail(of: key, edition: edition, isSmall: isSmall, taken: taken)
        }
    }

    /// Marks the thumbnail for a retry.
    public func recordPostponement(_ failure: Failure) async {
        await picture.record(.putOff(failure))
    }

    /// Marks the thumbnail as failed, or for a retry on another day.
    public func recordFailure(_ failure: Failure) async {
        await picture.recordFailure(failure)
    }
}
