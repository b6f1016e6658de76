import Files
import Model

/// The photos of one piece of a local folder, as entries of a list.
///
/// An entry's id is the path below the gallery's folder. Its revision has the file's size and time, so a file that is
/// replaced by another one with the same date is noticed as well.
public struct FolderEntries: WrittenEntries, Sendable {
    /// The error that stopped reading the folder; nil if all photos are known.
    public let failure: SystemError?
    /// The beginning of the ids of all photos in the folder.
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
    /// - Parameter address: the address of the gallery's folder.
    public init(_ piece: FolderTree.Piece, below address: Address, _ digest: EntryDigest) {
        (files, names, failure) = (piece.files, piece.names, piece.failure)
        folder = PathText.text(piece.path)
        beginning =
            address.text + (address.text.hasSuffix("/") ? "" : "/")
            + PercentEncoding.encode(piece.path, keepingEscapes: false, also: "/")
        // Computed here, since the entries are compared by another thread.
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

    /// Writes an entry. Returns false for a photo whose path is too long.
    public mutating func read(_ index: Int, into entry: inout EntryBytes) -> Bool {
        let file = files[index]
        let name = PathText.text(names[file.name])
        let address = beginning + PercentEncoding.encode(names[file.name], keepingEscapes: false)
        guard address.utf8.count <= Address.maximumLength else {
            skipped.append(folder + name)
            return false
        }
        entry.begin(date: Timestamp(file), .modified, digest: digests[index])
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
    /// The time when a file was last modified. A time outside the calendar's range becomes the nearest valid time.
    fileprivate init(_ file: FolderTree.File) {
        let seconds = min(max(file.seconds, -Self.latest), Self.latest)
        self.init(milliseconds: seconds * 1_000 + file.nanoseconds / 1_000_000)
    }

    /// The last second of the year 9999, since 1970.
    private static let latest: Int64 = 253_402_300_799
}
