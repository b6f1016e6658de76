import Files
import Glibc
import Model

/// The file with the user's own ratings of the photos of one gallery.
///
///     let file = RatingFile(folder: ratings, of: gallery)
///     let change = try file.change(from: { known }) { $0[Array("lake".utf8)] = Rating(4) }
///
/// A cache may be removed at any time, and photos come and go. The ratings are the user's work, so they are in a file
/// that Vitrine never removes. The rows of the cache have a copy of the ratings, for searches and sort orders.
///
/// The first line has the gallery's address. Each other line has a rating and a photo's id: `4 2024/lake.jpg`.
struct RatingFile: Sendable {
    /// Ratings by the bytes of the photos' ids. Swift treats some different texts as equal, although they name
    /// different files on the disk.
    typealias Ratings = [[UInt8]: Rating]

    /// All ratings in the file, and a stamp that changes with the file.
    struct Contents {
        var ratings: Ratings
        /// The lines that this version does not understand. They stay in the file.
        var otherLines: [String] = []
        let stamp: String
    }

    /// The stamps of a file before and after a change.
    struct Change {
        let before: String?
        let after: String?
    }

    private let path: String
    private let address: Address

    /// The maximum number of bytes of a file, about a million ratings.
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
        // Read the stamp before the contents. If the file changes in between, the old stamp causes another read later.
        guard let stamp else { return nil }
        do throws(SystemError) {
            // An empty file lost its contents in a crash of another program, so it counts as missing.
            guard let bytes = try SharedFile.bytes(path, atMost: Self.largest), !bytes.isEmpty else { return nil }
            // Two addresses may share the name of a file.
            guard let contents = contents(of: bytes, stamp) else { throw SystemError(EEXIST) }
            return contents
        } catch {
            throw .file(path: path, error)
        }
    }

    /// Changes the ratings in the file. No other process changes the file meanwhile.
    ///
    /// - Parameter known: returns the ratings in the cache. If the file is missing, the new file begins with these
    ///   ratings.
    func change(
        from known: () throws -> Ratings, _ body: (inout Ratings) -> Void
    ) throws(CacheError) -> Change {
        do {
            let file = try SharedFile(path)
            let before = try read()
            var ratings = try before?.ratings ?? known()
            body(&ratings)
            let text = text(ratings, before?.otherLines ?? [])
            guard text.utf8.count <= Self.largest else { throw SystemError(EFBIG) }
            try file.replace(with: text)
            return Change(before: before?.stamp, after: stamp)
        } catch let error as SystemError {
            throw .file(path: path, error)
        } catch {
            throw CacheError(thrown: error) ?? .file(path: path, SystemError(EIO))
        }
    }

    private func text(_ ratings: Ratings, _ otherLines: [String]) -> String {
        var bytes = Array(heading.utf8)
        func add(_ line: some Sequence<UInt8>) {
            bytes.append(UInt8(ascii: "\n"))
            bytes += line
        }
        for line in otherLines { add(line.utf8) }
        for (id, rating) in ratings.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            add("\(rating.text) ".utf8)
            bytes += Self.escaped(id)
        }
        bytes.append(UInt8(ascii: "\n"))
        return String(decoding: bytes, as: UTF8.self)
    }

    private var heading: String {
        "# " + String(decoding: Self.escaped(Array(address.textWithoutSecrets.utf8)), as: UTF8.self)
    }

    /// Reads all lines. Returns nil for the file of another gallery.
    private func contents(of bytes: [UInt8], _ stamp: String) -> Contents? {
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        guard lines.first?.elementsEqual(heading.utf8) == true else { return nil }
        var contents = Contents(ratings: [:], stamp: stamp)
        for line in lines.dropFirst() {
            if let space = line.firstIndex(of: UInt8(ascii: " ")),
                let rating = Rating(text: String(decoding: line[..<space], as: UTF8.self))
            {
                contents.ratings[Self.unescaped(line[(space + 1)...])] = rating
            } else {
                contents.otherLines.append(String(decoding: line, as: UTF8.self))
            }
        }
        return contents
    }

    /// Escapes line breaks as `\n` and backslashes as `\\`. The result is one line.
    private static func escaped(_ text: [UInt8]) -> [UInt8] {
        text.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "\\"): Array(#"\\"#.utf8)
            case UInt8(ascii: "\n"): Array(#"\n"#.utf8)
            default: [byte]
            }
        }
    }

    private static func unescaped(_ line: ArraySlice<UInt8>) -> [UInt8] {
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
        return bytes
    }
}
