import Model
import Testing

@testable import Formats

/// libxml2 is loaded on demand and may be missing.
@Suite struct MissingLibraryTests {
    private let missing = "libxml2-of-nobody.so.2"
    private let text = Array("<album></album>".utf8)

    private func parser(_ library: String) throws -> GalleryXMLParser {
        GalleryXMLParser(base: try Address("http://example.org/album/index.xml"), library: library)
    }

    @Test("A missing library is reported") func reported() throws {
        let parser = try parser(missing)
        let error = try #require(throws: FormatError.self) { _ = try parser.parse(text) }
        guard case .missingLibrary(missing, "libxml2, version 2.13 or earlier", let reason) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(reason.contains(missing))
        #expect(
            error.description == "The file \(missing) of the XML library cannot be loaded (\(reason)). "
                + "Install libxml2, version 2.13 or earlier.")
        // The error is transient: the library may be installed later.
        #expect(error.isTransient && !FormatError.empty.isTransient)
        // Further bytes and the end repeat the error.
        #expect(throws: error) { _ = try parser.parse(text) }
        #expect(throws: FormatError.self) { _ = try parser.finish() }
    }

    @Test("The library is not loaded before the first bytes") func loadedLate() throws {
        let parser = try parser(missing)
        _ = try parser.parse([])
        #expect(throws: FormatError.empty) { _ = try parser.finish() }
    }

    @Test("A library without the functions counts as missing") func wrongLibrary() throws {
        let error = try #require(throws: FormatError.self) { _ = try parser("libc.so.6").parse(text) }
        guard case .missingLibrary(_, _, let reason) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(reason.contains("xmlInitParser"))
    }

    @Test("A failed parser does not affect others") func otherParsers() throws {
        _ = try? parser(missing).parse(text)
        let parser = try parser("libxml2.so.2")
        _ = try parser.parse(text)
        _ = try parser.finish()
    }
}
