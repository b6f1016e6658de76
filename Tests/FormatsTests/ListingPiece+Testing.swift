import Model
import TestSupport
import Testing

@testable import Formats

extension ListingPiece {
    /// Parses a document in pieces of a given size, and joins the results.
    init(_ bytes: [UInt8], pieces: Int = 1 << 20, _ parser: any ListingParser) throws {
        self.init()
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            add(try parser.parse(Array(bytes[start..<min(bytes.count, start + pieces)])))
        }
        add(try parser.finish())
    }

    private mutating func add(_ piece: ListingPiece) {
        files += piece.files
        folders += piece.folders
        etag = piece.etag ?? etag
        caddyEntryCount += piece.caddyEntryCount
        hasParentLink = hasParentLink || piece.hasParentLink
        skipped += piece.skipped
        feed = piece.feed ?? feed
        nextPage = piece.nextPage ?? nextPage
    }

    /// The names of the files, as text.
    var names: [String] { files.map { String(decoding: $0.name, as: UTF8.self) } }

    /// The names of the folders, as text.
    var folderNames: [String] { folders.map { String(decoding: $0.name, as: UTF8.self) } }
}

/// Expects the same result however the document is cut.
func expectSameForEachCut(
    _ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation, _ parser: () -> any ListingParser
) throws {
    let whole = try ListingPiece(bytes, parser())
    for pieces in [1, 2, 3, 7, 100] {
        #expect(try ListingPiece(bytes, pieces: pieces, parser()) == whole, sourceLocation: sourceLocation)
    }
    for cut in 0...bytes.count {
        let parser = parser()
        var joined = try parser.parse(Array(bytes[..<cut]))
        for piece in [try parser.parse(Array(bytes[cut...])), try parser.finish()] {
            joined.files += piece.files
            joined.folders += piece.folders
            joined.etag = piece.etag ?? joined.etag
            joined.caddyEntryCount += piece.caddyEntryCount
            joined.hasParentLink = joined.hasParentLink || piece.hasParentLink
            joined.skipped += piece.skipped
            joined.nextPage = piece.nextPage ?? joined.nextPage
        }
        #expect(joined == whole, "cut at \(cut)", sourceLocation: sourceLocation)
    }
}

/// Parses mangled copies of a document. None may crash the parser; each is read or rejected.
func expectNoCrash(
    _ document: [UInt8], seed: UInt64, rounds: Int = 1_000, _ parser: () -> any ListingParser
) {
    var numbers = SeededNumbers(seed: seed)
    let signs = Array("<>&\"'=/!-? ;#x\0\n".utf8) + [0x80, 0xC3, 0xFF]
    var read = 0
    for _ in 0..<rounds {
        var bytes = document
        for _ in 0..<Int.random(in: 1...8, using: &numbers) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &numbers)
            switch Int.random(in: 0..<5, using: &numbers) {
            case 0: bytes[index] = signs.randomElement(using: &numbers) ?? 0
            case 1: bytes[index] = UInt8.random(in: 0...255, using: &numbers)
            case 2: bytes.insert(signs.randomElement(using: &numbers) ?? 0, at: index)
            case 3: bytes.removeSubrange(index..<min(bytes.count, index + Int.random(in: 1...40, using: &numbers)))
            default:
                let end = min(bytes.count, index + Int.random(in: 1...40, using: &numbers))
                bytes.insert(contentsOf: bytes[index..<end], at: Int.random(in: 0...bytes.count, using: &numbers))
            }
        }
        do {
            _ = try ListingPiece(bytes, pieces: Int.random(in: 1...200, using: &numbers), parser())
            read += 1
        } catch { #expect(error is FormatError) }
    }
    // Some must be read, or the test tries only the beginning of the parser.
    #expect(read > 0)
}
