import Cache
import Files
import Glibc
import HTTP
import Model
import Scheduling

/// Finds a photo of a local gallery. The photo stays where it is; the cache records its size and time.
///
/// The request also fulfils the wish for a thumbnail, because Vitrine makes the thumbnail from the photo.
public struct LocalPhotoRequest: PictureRequest {
    let picture: PictureSubject

    /// Makes a request for a photo in the folder of a local gallery.
    ///
    /// If a list names a file that cannot be opened in place, such as one behind a link, a ``PhotoRequest`` copies the
    /// file.
    public static func make(for subject: Wish.Subject, in context: RequestContext) throws -> Self? {
        guard case .picture(let gallery, let key, let rendition) = subject,
            let cache = context.caches.cache(gallery), cache.address.scheme == .file
        else { return nil }
        if rendition == .thumbnail {
            // If the thumbnail is up to date, or the list names one, the photo is not needed.
            let wanting = try cache.read { try $0.wantingSource(of: key, .thumbnail) }
            guard let wanting, wanting.address == nil else { return nil }
        }
        guard let picture = try PictureSubject(.original, of: key, in: gallery, context),
            cache.address.isPlainFolder || cache.files.isInPlace(picture.address)
        else { return nil }
        return Self(picture: picture)
    }

    /// The kind of transfer: a thumbnail, because nothing large is transferred.
    public var kind: TransferKind { .thumbnail }
    /// True, because a file belongs to no server.
    public let isNamedByUser = true

    /// Checks that the file is there and begins like a picture or a video.
    public func perform(over client: HTTPClient, with permit: TransferPermit) async throws {
        let descriptor = try reading { () throws(SystemError) in
            try picture.cache.files.open(original: picture.address)
        }
        defer { close(descriptor) }
        guard let file = OriginalFile(descriptor) else {
            throw RequestError.transfer(.file("it is not a regular file"))
        }
        let beginning = try reading { () throws(SystemError) in
            try OpenFile.beginning(of: descriptor, count: PictureSignature.length)
        }
        try RequestError.checkIsPictureOrVideo(beginning[...], at: picture.address)
        try await picture.cache.writer.store(original: file, of: picture.key, edition: picture.source.state.edition)
    }

    private func reading<Value>(_ body: () throws(SystemError) -> Value) throws(RequestError) -> Value {
        do throws(SystemError) { return try body() } catch { throw .transfer(.reading(error.code)) }
    }
}
