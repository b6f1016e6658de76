import Foundation

/// Folders of small photos whose names are hard for servers, and for readers of their lists.
///
/// Not all names are UTF-8, and two are equal for Swift's `==`. So names are compared by bytes.
public final class NastyTree: Sendable {
    /// A photo.
    public struct Photo: Sendable {
        /// The bytes of its path below the root.
        public let path: [UInt8]
        /// When it was modified, in seconds since 1970. A quarter of a second comes on top.
        public let seconds: Int
        /// Its bytes, which are a JPEG.
        public let bytes: [UInt8]

        /// The path as text. Each byte that is not part of UTF-8 is `�` and two hexadecimal digits.
        public var id: String { NastyTree.text(path) }
    }

    /// The path of the root.
    public let root: String
    /// All photos, in the order of their paths' bytes.
    public let photos: [Photo]
    private let folder = TestFolder()

    /// The ids of all photos, in the order of their bytes.
    public var ids: [String] { Self.sorted(photos.map(\.id)) }

    /// Makes the tree.
    ///
    /// - Parameter isText: whether all names are UTF-8. Some servers list no folder that contains another name.
    public init(isText: Bool = false) throws {
        root = folder.path("photos")
        let picture = try Data(contentsOf: URL(fileURLWithPath: Built.testGallery + "/images/tiny.jpg"))
        var paths = Self.names.map { Array($0.utf8) }
        if !isText { paths.append(Array("latin".utf8) + [0xFC] + Array(".jpg".utf8)) }
        paths += [Self.outer + "/inside.jpg", Self.outer + "/" + Self.inner + "/deep %2F.jpg"].map { Array($0.utf8) }
        photos = paths.enumerated().map { index, path in
            // Every 14 days and an hour, a minute and a second, so both summer and winter occur, and every hour.
            // Bytes after a JPEG's end do not matter.
            Photo(
                path: path, seconds: 1_609_459_200 + index * (14 * 86_400 + 3_661),
                bytes: Array(picture) + Array(String(repeating: "+", count: index + 1).utf8))
        }.sorted { $0.path.lexicographicallyPrecedes($1.path) }
        for name in ["", Self.outer, Self.outer + "/" + Self.inner] where mkdir("\(root)/\(name)", 0o755) != 0 {
            throw POSIXError(.EIO)
        }
        for photo in photos { try write(photo) }
    }

    /// Sorts ids by their bytes.
    public static func sorted(_ ids: [String]) -> [String] {
        ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private func location(_ photo: Photo) -> [CChar] {
        (Array("\(root)/".utf8) + photo.path + [0]).map { CChar(bitPattern: $0) }
    }

    private func write(_ photo: Photo) throws {
        let file = open(location(photo), O_CREAT | O_WRONLY | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        defer { close(file) }
        let time = timespec(tv_sec: photo.seconds, tv_nsec: 250_000_000)
        guard Glibc.write(file, photo.bytes, photo.bytes.count) == photo.bytes.count, futimens(file, [time, time]) == 0
        else { throw POSIXError(.EIO) }
    }

    private static func text(_ path: [UInt8]) -> String {
        // Only this byte is not part of UTF-8.
        let parts = path.split(separator: 0xFC, omittingEmptySubsequences: false)
        return parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\u{FFFD}FC")
    }

    private static let outer = "2024 #1 & 50%+Ü"
    private static let inner = #"a:b 'c' "d" ?;\"#
    private static let names = [
        "two  spaces.jpg", "hash#tag.jpg", "100%.jpg", "%41.jpg", "what?.jpg", "a+b.jpg", "\u{DC}ber.jpg",
        "U\u{308}ber.jpg", "line\nbreak.jpg", "it's.jpg", "double\"quote.jpg", "fish&amp;chips.jpg", "<b>bold.jpg",
        ".hidden.jpg", "-dash.jpg", String(repeating: "l", count: 251) + ".jpg", "\u{5E9}\u{5DC}\u{5D5}\u{5DD}.jpg",
        "back\\slash.jpg", "a:b.jpg", "semi;colon.jpg", "~tilde.jpg", "trailing .jpg", "\u{1F600}.jpg", "comma,.jpg",
        "IMG_0001.JPG",
    ]
}
