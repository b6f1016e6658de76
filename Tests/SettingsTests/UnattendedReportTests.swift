import Foundation
import TestSupport
import Testing

@testable import Settings

/// The results of work without a terminal.
@Suite struct UnattendedReportTests {
    private let folder = TestFolder()
    private var path: String { folder.path("state/reports") }
    private var entries: [String] { folder.entries("state/reports") }

    @Test("A report is shown while the work goes on, and the result once")
    func workAndResult() throws {
        do {
            let report = try #require(UnattendedReport(in: path, atWork: "Saving.", interrupted: "Interrupted."))
            #expect(UnattendedReport.take(from: path) == ["Saving."])
            #expect(UnattendedReport.take(from: path) == ["Saving."])
            report.end("Saved 5 photos.")
            #expect(entries.count == 1)
        }
        #expect(UnattendedReport.take(from: path) == ["Saved 5 photos."])
        #expect(UnattendedReport.take(from: path).isEmpty && entries.isEmpty)
    }

    @Test("Work that ends without a result was interrupted")
    func interrupted() {
        _ = UnattendedReport(in: path, atWork: "Saving.", interrupted: "Interrupted.")
        #expect(UnattendedReport.take(from: path) == ["Interrupted."])
        #expect(entries.isEmpty)
    }

    @Test("Unfinished files are removed silently; other files and links stay")
    func others() throws {
        folder.write("state/reports/1.2.report.new", "Saving")
        folder.write("state/reports/notes.txt", "mine")
        folder.write("elsewhere", "mine")
        try FileManager.default.createSymbolicLink(
            atPath: path + "/3.4.report", withDestinationPath: folder.path("elsewhere"))
        #expect(UnattendedReport.take(from: path).isEmpty)
        #expect(entries == ["3.4.report", "notes.txt"])
    }

    @Test("An unwritable folder has no report")
    func nowhere() {
        #expect(UnattendedReport(in: "/dev/null/reports", atWork: "", interrupted: "") == nil)
        #expect(UnattendedReport.take(from: "/dev/null/reports").isEmpty)
    }
}
