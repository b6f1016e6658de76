import Model
import Testing

@testable import Formats

/// libxml2 is loaded when it is needed, and may not be there.
@Suite struct MissingLibraryTests {
    private let missing = "libxml2-of-nobody.so.2"
    private let text = Array("<album></album>".utf8)

    private func parser(_ library: String) throws -> GalleryXMLParser {
        GalleryXMLParser(base: try Address("http://example.org/album/index.xml"), library: library)
    }

    @Test func isSaid() throws {
        let parser = try parser(missing)
        let error = try #require(throws: FormatError.self) { _ = try parser.parse(text) }
        guard case .missingLibrary(missing, "libxml2", let reason) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(reason.contains(missing))
        #expect(error.description == "\(missing) cannot be loaded (\(reason)). Install libxml2.")
        // Once it is installed nothing is wrong with the gallery.
        #expect(error.isTransient && !FormatError.empty.isTransient)
        // Said again, whatever comes; and the parser ends.
        #expect(throws: error) { _ = try parser.parse(text) }
        #expect(throws: FormatError.self) { _ = try parser.finish() }
    }

    /// Before there is anything to read nothing is loaded.
    @Test func isNotNeededForNothing() throws {
        let parser = try parser(missing)
        _ = try parser.parse([])
        #expect(throws: FormatError.empty) { _ = try parser.finish() }
    }

    /// A library of that name in which the functions are not is none.
    @Test func isAnotherLibrary() throws {
        let error = try #require(throws: FormatError.self) { _ = try parser("libc.so.6").parse(text) }
        guard case .missingLibrary(_, _, let reason) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(reason.contains("xmlInitParser"))
    }

    /// Without a parser of one, another works.
    @Test func othersGoOn() throws {
        _ = try? parser(missing).parse(text)
        let parser = try parser("libxml2.so.2")
        _ = try parser.parse(text)
        _ = try parser.finish()
    }
}
