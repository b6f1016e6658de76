import Testing

@testable import Pixels

struct DecoderReportTests {
    @Test func survivesTheWire() throws {
        let report = DecoderReport(restrictions: ["Landlock 7", "no seccomp"], libraries: ["libpng 1.6.39"])
        #expect(report.text == "restrictions: Landlock 7, no seccomp\nlibraries: libpng 1.6.39\n")
        #expect(try DecoderReport(text: report.text) == report)
        let none = DecoderReport(restrictions: [], libraries: [])
        #expect(try DecoderReport(text: none.text) == none)
        let memory = try SealedMemory()
        #expect(memory.isSealable && !SealedMemory(adopting: -1).isSealable)
        try memory.fill(with: [Array(report.text.utf8)])
        #expect(try DecoderReport(reading: memory) == report)
    }

    @Test(arguments: [
        "", "restrictions: \n", "restrictions: a\nlibraries: b", "libraries: b\nrestrictions: a\n",
        "restrictions: a\nlibraries: b\nmore\n",
        "restrictions: \u{1B}[2J\nlibraries: b\n", "restrictions: ä\nlibraries: b\n",
    ])
    func refusesInvalidReports(text: String) {
        #expect(throws: PixelsError.self) { try DecoderReport(text: text) }
    }

    @Test func refusesTooLongReports() throws {
        let memory = try SealedMemory()
        let name = String(repeating: "x", count: DecoderReport.longest)
        try memory.fill(with: [Array(DecoderReport(restrictions: [name], libraries: []).text.utf8)])
        #expect(throws: PixelsError.self) { try DecoderReport(reading: memory) }
    }
}
