import Formats
import Glibc
import Model

/// Lists the photos of gallery files and feeds, whose bytes it parses as if they arrived from a slow server:
///
///     swift run example-formats FILE…
@main
enum FormatsExample {
    static func main() {
        var areAllRead = true
        for path in CommandLine.arguments.dropFirst() {
            do {
                try list(path)
            } catch {
                areAllRead = false
                print("\(path): \(error)")
            }
        }
        exit(areAllRead ? 0 : 1)
    }

    private static func list(_ path: String) throws {
        let bytes = try content(of: path)
        // Relative references are relative to the document's address.
        guard let absolute = realpath(path, nil) else { throw UnreadableFile() }
        defer { free(absolute) }
        let base = Address(filePath: String(cString: absolute))
        if FeedParser.recognises(Array(bytes.prefix(1_024))) {
            let parser = FeedParser(base: base)
            for piece in pieces(of: bytes) { show(try parser.parse(piece)) }
            show(try parser.finish())
        } else {
            let parser = GalleryXMLParser(base: base)
            for piece in pieces(of: bytes) { show(try parser.parse(piece)) }
            // Only the end tells whether the document is whole.
            show(try parser.finish())
        }
    }

    private static func show(_ photos: [LibraryPhoto]) {
        for photo in photos { print("\(photo.name)\t\(photo.photo.text)") }
    }

    private static func show(_ photos: WrittenPhotos) {
        var photos = photos
        var entry = EntryBytes()
        // Each photo is parsed when it is read.
        for index in 0..<photos.count where photos.read(index, into: &entry) {
            print("\(entry.text(.name))\t\(entry.text(.photo))")
        }
        for remark in photos.skipped { print("line \(remark.line): skipped, because \(remark.reason)") }
    }

    private static func pieces(of bytes: [UInt8]) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: 100).map { Array(bytes[$0..<min($0 + 100, bytes.count)]) }
    }

    private static func content(of path: String) throws -> [UInt8] {
        guard let file = fopen(path, "r") else { throw UnreadableFile() }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer.prefix(count) }
        return bytes
    }

    private struct UnreadableFile: Error, CustomStringConvertible {
        let description = "The file cannot be read."
    }
}
