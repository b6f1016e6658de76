import Files
import Model

/// The photos of one piece of a local folder, as entries of a list.
///
/// An entry's id is the path below the gallery's folder. Its revision consists of the file's size and modification
/// time. So Vitrine notices a new file in place of an old one, even if both have the same date.
public struct FolderEntries: WrittenEntries, Sendable {
    /// The error that stopped the reading of the folder; nil without an error.
    public let failure: SystemError?
    /// The folder's path, with which the ids of its photos begin.
    public let folder: String
    /// The ids of photos whose paths are too long for an address.
    public private(set) var skipped: [String] = []
    private let files: [FolderTree.File]
    private let names: [UInt8]
    private let digests: [Int64]
    /// The address of the folder, with a slash at its end.
    private let beginning: String

    /// Creates the entries of a piece.
    ///
    /// - Parameters:
    ///   - address: the address of the gallery's folder.
    ///   - livePhotos: the record of the folder's live photos; pass the same record with all pieces of the folder.
    public init(
        _ piece: FolderTree.Piece, below address: Address, _ digest: EntryDigest, _ livePhotos: inout LivePhotos
    ) {
        (names, failure) = (piece.names, piece.failure)
        files = livePhotos.filesWithoutVideos(of: piece)
        folder = PathText.text(piece.path)
        beginning =
            address.text + (address.text.hasSuffix("/") ? "" : "/")
            + PercentEncoding.encode(piece.path, keepingEscapes: false, also: "/")
        // This thread computes the digests, to relieve the thread that compares the entries.
        var bytes = piece.path
        digests = files.map { file in
            bytes.removeSubrange(piece.path.count...)
            bytes.append(contentsOf: piece.names[file.name])
            bytes.append(0)
            for number in [file.size, file.seconds, file.nanoseconds] {
                withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
            }
            return bytes.withUnsafeBytes { digest.digest($0) }
        }
    }

    /// The number of photos.
    public var count: Int { files.count }

    /// Returns the digest of a photo's path, size and time.
    public func digest(at index: Int) -> Int64? { digests[index] }

    /// Writes an entry. Returns false for a photo whose address is too long.
    public mutating func read(_ index: Int, into entry: inout EntryBytes) -> Bool {
        let file = files[index]
        let name = PathText.text(names[file.name])
        let address = beginning + PercentEncoding.encode(names[file.name], keepingEscapes: false)
        guard address.utf8.count <= Address.maximumLength else {
            skipped.append(folder + name)
            return false
        }
        let isVideo = PictureName.isVideo(names[file.name])
        entry.begin(date: Timestamp(file), .modified, videoMilliseconds: isVideo ? 0 : nil, digest: digests[index])
        entry.append(folder.utf8)
        entry.append(name.utf8)
        entry.end(.id)
        entry.append(name.utf8)
        entry.end(.name)
        entry.append(address.utf8)
        entry.end(.photo)
        entry.end(.thumbnail)
        entry.append("\(file.size)-\(file.seconds).\(file.nanoseconds)".utf8)
        entry.end(.revision)
        return true
    }
}

/// Recognises the short videos that phones store beside live photos.
///
/// `IMG_1.MOV` beside `IMG_1.HEIC` or `IMG_1.JPG` is such a video, and so is `IMG_1.MP4` beside `IMG_1.HEIC`. A list
/// shows only the photo. Cameras do not give a photo and an unrelated video the same name.
public struct LivePhotos: Sendable {
    /// The hashes of the recorded photos' names without file endings.
    private struct Photos {
        var heif: Set<Int> = []
        var jpeg: Set<Int> = []
    }

    private var recent = Photos()
    private var earlier = Photos()
    private let limit: Int
    /// The local folder whose photos are recorded.
    private var folder: [UInt8]?

    /// Creates an empty record.
    ///
    /// - Parameter limit: the number of photos after which the record forgets earlier ones. For a long list, a limit
    ///   saves memory.
    public init(limit: Int = .max) { self.limit = limit }

    /// Returns whether a file could be the video of a live photo.
    public static func mayBeVideo(_ name: ArraySlice<UInt8>) -> Bool { [mov, mp4].contains(ending(of: name)) }

    /// Records a file of the folder, if the file is a photo.
    public mutating func record(_ name: ArraySlice<UInt8>) {
        if recent.heif.count + recent.jpeg.count >= limit { (earlier, recent) = (recent, Photos()) }
        switch Self.ending(of: name) {
        case Self.heic, Self.heif: recent.heif.insert(Self.stem(of: name))
        case Self.jpg, Self.jpeg: recent.jpeg.insert(Self.stem(of: name))
        default: break
        }
    }

    /// Returns whether a file is the video of a recorded photo.
    public func isVideo(_ name: ArraySlice<UInt8>) -> Bool {
        let ending = Self.ending(of: name)
        guard [Self.mov, Self.mp4].contains(ending) else { return false }
        let stem = Self.stem(of: name)
        return [recent, earlier].contains { photos in
            photos.heif.contains(stem) || ending == Self.mov && photos.jpeg.contains(stem)
        }
    }

    /// Returns a piece's files without the videos of live photos. The photos of these videos may be in other pieces of
    /// the folder.
    mutating func filesWithoutVideos(of piece: FolderTree.Piece) -> [FolderTree.File] {
        guard piece.files.contains(where: { Self.mayBeVideo(piece.names[$0.name]) }) else { return piece.files }
        if folder != piece.path {
            self = LivePhotos(limit: limit)
            folder = piece.path
            // A piece contains the names of all files in the folder, each with a zero byte at its end.
            for name in piece.names.split(separator: 0) { record(name) }
        }
        return piece.files.filter { !isVideo(piece.names[$0.name]) }
    }

    private static let (mov, mp4) = (ending("mov"), ending("mp4"))
    private static let (heic, heif, jpg, jpeg) = (ending("heic"), ending("heif"), ending("jpg"), ending("jpeg"))

    private static func ending(_ text: String) -> UInt32 { ending(of: Array("x.\(text)".utf8)[...]) }

    /// Returns a file name's ending in lower case as a number. Returns 0 if it is missing or longer than four bytes.
    private static func ending(of name: ArraySlice<UInt8>) -> UInt32 {
        var ending: UInt32 = 0
        for byte in name.suffix(5).reversed() {
            if byte == UInt8(ascii: ".") { return ending }
            ending = ending << 8 | UInt32(lower(byte))
        }
        return 0
    }

    private static func stem(of name: ArraySlice<UInt8>) -> Int {
        var hasher = Hasher()
        let end = name.lastIndex(of: UInt8(ascii: ".")) ?? name.endIndex
        for byte in name[..<end] { hasher.combine(lower(byte)) }
        return hasher.finalize()
    }

    private static func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}

/// Paths as text.
public enum PathText {
    /// Returns a path as a string. Each byte that is not valid UTF-8 becomes `�` and two hexadecimal digits, so
    /// different paths become different strings.
    public static func text(_ bytes: some Collection<UInt8>) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        var text = ""
        var rest = Array(bytes)[...]
        while let byte = rest.first {
            if let scalar = firstScalar(rest) {
                text.unicodeScalars.append(scalar)
                rest = rest.dropFirst(UTF8.width(scalar))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += "\u{FFFD}" + (digits.count < 2 ? "0" : "") + digits
                rest = rest.dropFirst()
            }
        }
        return text
    }

    private static func firstScalar(_ bytes: ArraySlice<UInt8>) -> Unicode.Scalar? {
        for length in 1...4 {
            if let text = String(validating: bytes.prefix(length), as: UTF8.self) { return text.unicodeScalars.first }
        }
        return nil
    }
}

extension Timestamp {
    /// Creates the time of a file's last change. A time outside the calendar's range becomes the nearest valid time.
    fileprivate init(_ file: FolderTree.File) {
        let seconds = min(max(file.seconds, -Self.latest), Self.latest)
        self.init(milliseconds: seconds * 1_000 + file.nanoseconds / 1_000_000)
    }

    /// The last second of the year 9999, in seconds since 1970.
    private static let latest: Int64 = 253_402_300_799
}
