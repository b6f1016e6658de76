import Cache
import Files
import Glibc
import Model
import Pixels

/// The thumbnails that the desktop's programs share.
///
/// The Thumbnail Managing Standard of freedesktop.org defines these thumbnails.
///
/// A thumbnail's name is the MD5 digest of the photo's URI. The file states the URI and the photo's time, which show
/// whether the thumbnail is current. Other programs wrote these files, so their pictures are as untrusted as the
/// photos.
public struct DesktopThumbnails: Sendable {
    /// The sizes that the standard defines, with a folder for each.
    private enum Size: String, CaseIterable {
        case normal
        case large
        case xLarge = "x-large"
        case xxLarge = "xx-large"

        /// The longest side of a thumbnail in pixels.
        var side: Int {
            switch self {
            case .normal: 128
            case .large: 256
            case .xLarge: 512
            case .xxLarge: 1024
            }
        }
    }

    private let folder: String

    /// The longest side of thumbnails that Vitrine shares with the desktop.
    static let side = Size.large.side

    /// The maximum number of bytes of a thumbnail file. A picture of 1,024 × 1,024 pixels with opacity fits without
    /// compression.
    private static let longestFile = 5 << 20

    /// Creates a value for a folder of thumbnails, usually `$XDG_CACHE_HOME/thumbnails`. The folder may be missing.
    public init(folder: String) {
        self.folder = folder
    }

    /// Returns the identity of a photo's open file. Returns nil if the desktop keeps no thumbnails of such photos.
    ///
    /// The desktop keeps thumbnails of the user's own files, but not of copies in Vitrine's cache. A thumbnail gets no
    /// thumbnail of its own.
    func photo(_ photo: StoredPhoto, on descriptor: Int32) -> DesktopPhoto? {
        guard let path = photo.original?.filePathBytes, let own = RealPath.of(Array(folder.utf8)),
            let real = RealPath.of(path), !real.starts(with: own + [UInt8(ascii: "/")])
        else { return nil }
        return DesktopPhoto(path: path, descriptor)
    }

    /// Returns a photo's current thumbnail. Returns nil if there is none.
    ///
    /// - Parameter side: the requested length of the longest side. A thumbnail of ``side`` pixels is always large
    ///   enough.
    func thumbnail(of photo: DesktopPhoto, side: Int) -> [UInt8]? {
        let name = photo.fileName
        for size in Size.allCases where size.side >= min(side, Self.side) {
            guard let bytes = Self.read("\(folder)/\(size.rawValue)/\(name)"), photo.isShown(by: ThumbnailTexts(bytes))
            else { continue }
            return bytes
        }
        return nil
    }

    /// Writes a photo's thumbnail for other programs. Replaces an outdated thumbnail.
    ///
    /// Does nothing unless the folder of thumbnails exists: without it, no other program reads thumbnails.
    func keep(_ picture: PixelBuffer, of photo: DesktopPhoto) throws(SystemError) {
        guard picture.width <= Self.side, picture.height <= Self.side else { throw SystemError(EINVAL) }
        let parent = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard parent >= 0 else { return }
        defer { close(parent) }
        guard Self.isOwn(parent) else { return }
        guard mkdirat(parent, Size.large.rawValue, 0o700) == 0 || errno == EEXIST else { throw SystemError() }
        let large = openat(parent, Size.large.rawValue, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard large >= 0 else { throw SystemError() }
        defer { close(large) }
        let texts = photo.texts + [(ThumbnailTexts.software, "Vitrine")]
        try Self.replace(photo.fileName, in: large, with: PNGEncoding.encode(picture, texts: texts))
    }

    // MARK: - Files

    /// Whether an open file or folder belongs to the user.
    private static func isOwn(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_uid == geteuid()
    }

    private static func read(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid(), 1...longestFile ~= Int(status.st_size)
        else { return nil }
        let size = Int(status.st_size)
        let bytes = try? OpenFile.beginning(of: descriptor, count: size)
        return bytes?.count == size ? bytes : nil
    }

    /// Replaces a file atomically. Other programs see either the old file or the whole new one.
    private static func replace(_ name: String, in folder: Int32, with bytes: [UInt8]) throws(SystemError) {
        let temporary = ".vitrine-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
        let file = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SystemError() }
        var failure: SystemError?
        var rest = bytes[...]
        while !rest.isEmpty, failure == nil {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { failure = SystemError() }
        }
        if close(file) != 0, failure == nil { failure = SystemError() }
        if failure == nil, renameat(folder, temporary, folder, name) != 0 { failure = SystemError() }
        guard let failure else { return }
        unlinkat(folder, temporary, 0)
        throw failure
    }
}

/// A photo's identity in thumbnails: the URI, the time of the last change, and the size.
struct DesktopPhoto: Hashable {
    /// The file's URI in the form of GLib's `g_filename_to_uri`.
    let uri: String
    private let seconds: Int64
    private let nanoseconds: Int64
    private let size: Int64

    /// Reads the identity of an open file. Returns nil unless it is a regular file.
    init?(path: [UInt8], _ descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        uri = Self.uri(path)
        (seconds, nanoseconds) = (Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec))
        size = Int64(status.st_size)
    }

    /// Returns the URI of a path. Escapes semicolons as GLib does, although URLs may contain semicolons.
    static func uri(_ path: [UInt8]) -> String {
        let escaped = PercentEncoding.encode(path, keepingEscapes: false, also: "/")
        return "file://" + escaped.split(separator: ";", omittingEmptySubsequences: false).joined(separator: "%3B")
    }

    /// The name of the thumbnail's file.
    var fileName: String { ByteDigest.md5.digits(of: Array(uri.utf8)) + ".png" }

    /// The texts that a thumbnail of this photo contains.
    var texts: [(key: String, value: String)] {
        [
            (ThumbnailTexts.uri, uri), (ThumbnailTexts.time, String(seconds)), (ThumbnailTexts.size, String(size)),
        ]
    }

    /// Whether a thumbnail with these texts shows the photo in its current state.
    func isShown(by texts: ThumbnailTexts) -> Bool {
        // The file's name is the digest of the URI, so a URI in an unread form need not be compared.
        let hasURI = texts[ThumbnailTexts.uri].map { $0 == uri } ?? texts.hasUnreadURI
        guard hasURI, let time = texts[ThumbnailTexts.time] else { return false }
        // The size is optional.
        if let stated = texts[ThumbnailTexts.size], stated != String(size) { return false }
        // Some programs write fractions of a second.
        let parts = time.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let fraction = String(nanoseconds)
        let digits = String(repeating: "0", count: max(0, 9 - fraction.count)) + fraction
        return parts.first.map(String.init) == String(seconds) && (parts.count == 1 || digits.hasPrefix(parts[1]))
    }
}

/// Resolves the links in paths.
private enum RealPath {
    /// Returns a path with all links resolved. Returns nil if no file or folder is there.
    static func of(_ path: [UInt8]) -> [UInt8]? {
        guard !path.contains(0) else { return nil }
        let text = (path + [0]).map { CChar(bitPattern: $0) }
        guard let found = realpath(text, nil) else { return nil }
        defer { free(found) }
        return UnsafeBufferPointer(start: found, count: strlen(found)).map { UInt8(bitPattern: $0) }
    }
}

/// The texts in a thumbnail's PNG file: URI, time and size, from chunks of type `tEXt`.
///
/// The file is untrusted. This type reads only lengths and texts; the decoder reads the picture in its sandbox.
struct ThumbnailTexts {
    static let uri = "Thumb::URI"
    static let time = "Thumb::MTime"
    static let size = "Thumb::Size"
    static let software = "Software"

    private var values: [String: String] = [:]
    /// Whether a chunk that may be compressed contains a URI.
    ///
    /// Qt writes texts of 40 characters or more to compressed chunks of type `zTXt`. Nearly every URI is that long, but
    /// neither time nor size is.
    private(set) var hasUnreadURI = false

    /// The maximum number of chunks to read. The largest thumbnail has a few hundred.
    private static let mostChunks = 4_096
    /// The maximum number of bytes of a text. A path has at most 4,096 bytes, and escapes may make it three times as
    /// long.
    private static let longestText = 16_384

    /// Reads the texts of a file. Reads none from other formats, and stops where a file is damaged.
    init(_ bytes: [UInt8]) {
        guard bytes.starts(with: PNGEncoding.signature) else { return }
        var rest = bytes.dropFirst(PNGEncoding.signature.count)
        for _ in 0..<Self.mostChunks {
            // A chunk has a length, a type, the content, and a checksum.
            guard rest.count >= 12 else { return }
            let length = Int(rest.prefix(4).reduce(0 as UInt32) { $0 << 8 | UInt32($1) })
            guard length <= rest.count - 12 else { return }
            let type = rest.dropFirst(4).prefix(4)
            let content = rest.dropFirst(8).prefix(length)
            if type.elementsEqual("tEXt".utf8), length <= Self.longestText {
                add(content)
            } else if type.elementsEqual("zTXt".utf8) || type.elementsEqual("iTXt".utf8) {
                hasUnreadURI = hasUnreadURI || content.starts(with: Array(Self.uri.utf8) + [0])
            }
            rest = rest.dropFirst(length + 12)
        }
    }

    /// Returns a text. If a file has several texts with one key, the first text counts.
    subscript(key: String) -> String? { values[key] }

    private mutating func add(_ content: ArraySlice<UInt8>) {
        guard let end = content.firstIndex(of: 0) else { return }
        let key = String(decoding: content[..<end], as: UTF8.self)
        guard [Self.uri, Self.time, Self.size].contains(key), values[key] == nil else { return }
        values[key] = String(decoding: content[(end + 1)...], as: UTF8.self)
    }
}
