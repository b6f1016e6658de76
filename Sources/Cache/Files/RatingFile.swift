import Files
import Glibc
import Model

/// The file with the user's own ratings of the photos of one gallery.
///
///     let file = RatingFile(folder: ratings, of: gallery)
///     let change = try file.change(from: known) { $0["lake"] = Rating(4) }
///
/// A cache may be removed at any time, and photos come and go. The ratings are the user's work, so they are in a file
/// that Vitrine never removes. The rows of the cache have a copy, which searches and orders use.
///
/// The first line has the gallery's address. Each other line has a rating and a photo's id: `4 2024/lake.jpg`.
struct RatingFile: Sendable {
    /// All ratings in the file, and a text that changes with the file.
    struct Contents {
        var ratings: [String: Rating]
        let stamp: String
    }

    /// The change of a file: its stamp before, and its contents afterwards.
    struct Change {
        let stampBefore: String?
        let contents: Contents
    }

    private let path: String
    private let address: Address

    /// The most bytes of a file, about a million ratings.
    private static let largest = 64 << 20

    init(folder: String, of address: Address) {
        path = "\(folder)/\(GalleryID(address))"
        self.address = address
    }

    /// A text that changes with the file; nil if the file is missing.
    var stamp: String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return "\(status.st_ino) \(status.st_size) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }

    /// Reads the file. Returns nil if it is missing.
    func read() throws(CacheError) -> Contents? {
        // Before the contents: if the file changes meanwhile, it is read again.
        guard let stamp else { return nil }
        do throws(SystemError) {
            guard let bytes = try SharedFile.bytes(path, atMost: Self.largest) else { return nil }
            // Two addresses may share the name of a file.
            guard let ratings = ratings(in: bytes) else { throw SystemError(EEXIST) }
            return Contents(ratings: ratings, stamp: stamp)
        } catch {
            throw .file(path: path, reason: error.description)
        }
    }

    /// Changes the ratings in the file. No other process changes the file meanwhile.
    ///
    /// - Parameter known: the ratings in the cache. They begin the file if it is missing.
    func change(
        from known: [String: Rating], _ body: (inout [String: Rating]) -> Void
    ) throws(CacheError) -> Change {
        do {
            let file = try SharedFile(path)
            let before = try read()
            var ratings = before?.ratings ?? known
            body(&ratings)
            try file.replace(with: text(ratings))
            return Change(stampBefore: before?.stamp, contents: Contents(ratings: ratings, stamp: stamp ?? ""))
        } catch let error as CacheError {
            throw error
        } catch {
            throw .file(path: path, reason: "\(error)")
        }
    }

    private func text(_ ratings: [String: Rating]) -> String {
        ratings.sorted { $0.key < $1.key }.reduce(into: heading + "\n") {
            $0 += "\($1.value.text) \(Self.escaped($1.key))\n"
        }
    }

    private var heading: String { "# \(Self.escaped(address.textWithoutSecrets))" }

    /// Reads all lines, and ignores those that it does not understand. Returns nil for the file of another gallery.
    private func ratings(in bytes: [UInt8]) -> [String: Rating]? {
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        guard lines.first?.elementsEqual(heading.utf8) != false else { return nil }
        var ratings: [String: Rating] = [:]
        for line in lines.dropFirst() {
            guard let space = line.firstIndex(of: UInt8(ascii: " ")),
                let rating = Rating(text: String(decoding: line[..<space], as: UTF8.self))
            else { continue }
            ratings[Self.unescaped(line[(space + 1)...])] = rating
        }
        return ratings
    }

    /// Writes a text in one line: `\n` for a line's end, and `\\` for a backslash.
    private static func escaped(_ text: String) -> String {
        text.utf8.contains { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\n") }
            ? text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n") : text
    }

    private static func unescaped(_ line: ArraySlice<UInt8>) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(line.count)
        var isEscaped = false
        for byte in line {
            if isEscaped {
                bytes.append(byte == UInt8(ascii: "n") ? UInt8(ascii: "\n") : byte)
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
