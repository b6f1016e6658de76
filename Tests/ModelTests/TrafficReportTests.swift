import Testing

@testable import Model

@Suite struct TrafficReportTests {
    @Test func aReportListsALimitedNumberOfTransfers() throws {
        let gallery = GalleryID(try Address("http://example.org/"))
        let transfers = (0..<1_000).map { number in
            TransferReport(
                .picture(gallery, PhotoKey(number), .thumbnail), host: "example.org", importance: .visible,
                stage: .queued)
        }
        let report = TrafficReport(queued: 1_000, transfers: transfers)
        #expect(report.transfers == Array(transfers.prefix(256)) && report.queued == 1_000)
    }
}
