import Cache
import HTTP
import Model
import Numbers
import Scheduling

/// Fetches a thumbnail that the gallery has, into the cache's table of thumbnails.
public struct ThumbnailRequest: NetworkRequest {
    private let picture: PictureSubject

    /// More than any thumbnail, and little enough to be held in memory.
    static let limit: ByteCount = 4 << 20

    /// Serves wishes for thumbnails of photos that have one.
    public static func make(for subject: Wish.Subject, in context: RequestContext) throws -> Self? {
        guard case .picture(let gallery, let key, .thumbnail) = subject else { return nil }
        return try PictureSubject(.thumbnail, of: key, in: gallery, context).map(Self.init)
    }

    private init(_ picture: PictureSubject) {
        self.picture = picture
    }

    /// The thumbnail, in the edition that the list spoke of when the request was made.
    public var identity: RequestIdentity { picture.identity }
    /// Where it lies.
    public var address: Address { picture.address }
    /// One of many.
    public var kind: TransferKind { .thumbnail }
    /// Whether it lies with the gallery, or where the user has signed in for the gallery.
    public var isNamedByUser: Bool { picture.isNamedByUser }
    /// Whether it was put off before.
    public var hasFailedBefore: Bool { picture.source.state.trouble != nil }

    /// Asks for it, into memory.
    public func plan() throws -> FetchPlan {
        FetchPlan(
            address: picture.address, signIn: picture.signIn, validators: picture.validators, limit: Self.limit,
            addressPolicy: try picture.cache.pictureAddressPolicy(), isNamedByUser: picture.isNamedByUser)
    }

    /// Stores it, unless the gallery speaks of another by now.
    public func process(_ response: inout Response) async throws {
        guard !response.isUnchanged else { return try await picture.confirm() }
        try response.checkIsNoText()
        let bytes = try await response.allBytes()
        guard PictureSignature(bytes) != nil else { throw RequestError.wrongType("something that is no picture") }
        try Task.checkCancellation()
        let isStored = try await picture.cache.writer.store(
            thumbnail: bytes, of: picture.key, edition: picture.source.state.edition, validators: response.validators)
        if isStored { picture.context.log.debug(.sync, "stored thumbnail \(picture.key.rawValue)") }
    }

    /// Nothing to show: a thumbnail's placeholder says that it is not here yet.
    public func noteBegun() {}

    /// Its row says so.
    public func noteDone() {}

    /// Marks the thumbnail as put off.
    public func notePutOff(_ failure: Failure) async {
        await picture.note(.putOff(failure))
    }

    /// Its row says so.
    public func noteWaiting(_ failure: Failure, until time: Timestamp?) {}

    /// Marks the thumbnail as bad, or as put off where another day may bring it.
    public func noteFailed(_ failure: Failure) async {
        await picture.noteFailed(failure)
    }

    /// Nothing was shown.
    public func noteCancelled() {}
}
