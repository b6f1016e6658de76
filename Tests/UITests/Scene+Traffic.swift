import Cells
import Session
import Model
import Numbers

@testable import Cache
@testable import UI

/// Scenes of the transfers, errors and log screens.
extension Scene {
    static let traffic = [
        Scene("transfers") { try await $0.transfers() },
        Scene("transfers-waiting") { scene in
            try await scene.transfers()
            scene.screens.press("j", "j")
        },
        Scene("transfers-paused") { scene in
            try await scene.fill()
            scene.screens.press("T", "p")
        },
        Scene("traffic-beside") { scene in
            try await scene.open()
            scene.screens.activity.setTraffic(
                TrafficReport(running: 3, received: 1_000), at: SceneGallery.now)
            // The indicator's text depends on the room, so it is known after drawing.
            try await scene.screens.until {
                _ = scene.screens.frame()
                return !scene.screens.root.indicator.isEmpty
            }
        },
        Scene("transfers-none") { $0.screens.press("T") },
        Scene("errors") { try await $0.errors() },
        Scene("errors-none") { $0.screens.press("E") },
        Scene("log") { scene in
            scene.screens.log.clear()
            for number in 1...12 {
                scene.screens.log.info(
                    .network, "http://example.org/album/images/\(number).jpg: 200, 148.1 KB in 0.21 s")
            }
            scene.screens.log.info(.sync, "http://example.org/album/index.xml: 2 added, 1 changed, 0 removed")
            scene.screens.log.error(
                .network,
                "http://example.org/album/thumbnails/october-oak.jpg: the server answered 404 (not found), not again")
            scene.screens.press("2", "L", "2")
        },
    ]
}

extension SceneGallery {
    /// Makes a half received photo, a requested and a waiting thumbnail, many queued ones, and a running export.
    fileprivate func transfers() async throws {
        try await fill()
        func transfer(
            _ id: String, _ stage: TransferReport.Stage, _ rendition: Rendition = .thumbnail
        ) throws -> TransferReport {
            TransferReport(
                try screens.subject(id, rendition), host: "example.org", importance: .visible, stage: stage)
        }
        let failure = Failure("the server answered 503 (server error)", remedy: .time)
        let transfers = try [
            transfer("desert-dusk", .running(Progress(done: 1_200_000, total: 2_400_000), speed: 400_000), .original),
            transfer("owl", .running(Progress(done: 0))),
            transfer("snow", .waiting(failure, attempts: 3, until: Self.moment(75)), .original),
            transfer(
                "island-map",
                .waiting(Failure("example.org cannot be reached", remedy: .network), attempts: 1, until: nil)),
            transfer("tulips", .queued, .original), transfer("milky-way", .queued, .original),
            transfer(
                "october-oak",
                .heldBack(Failure("example.org cannot be reached", remedy: .network), attempts: 2)),
        ]
        for second in -40...0 {
            let received = 30_000_000 + Int64(second) * 700_000 - Int64(second % 7) * 300_000
            screens.activity.setTraffic(
                TrafficReport(
                    quality: .fair, running: 2, width: 8, limit: 64, window: 512_000, bandwidth: 3_400_000,
                    roundTrip: 0.045,
                    received: ByteCount(received), queued: 300, waiting: 2, transfers: transfers),
                at: Self.moment(Int64(second)))
        }
        screens.press("T")
    }

    /// Makes failures with and without a retry, and stored failures of an earlier run.
    fileprivate func errors() async throws {
        try await fill()
        func fail(_ id: String, _ rendition: Rendition, _ failure: Failure, _ attempts: Int, next: Int64? = nil) throws
        {
            screens.activity.recordFailure(
                FailureReport(
                    try screens.subject(id, rendition), failure, attempts: attempts, first: Self.moment(-400),
                    last: Self.moment(-20 - Int64(attempts)), next: next.map(Self.moment)))
        }
        try fail("snow", .original, Failure("the server answered 503 (server error)", remedy: .time), 3, next: 75)
        try fail(
            "island-map", .thumbnail, Failure("it is no picture: it begins with “<!DOCTYPE html>”", remedy: .none), 1)
        let lost = try Address("http://192.168.1.20:8080/gallery.xml")
        screens.activity.recordFailure(
            FailureReport(
                .list(GalleryID(lost)), Failure("192.168.1.20:8080 cannot be reached", remedy: .network), attempts: 12,
                first: Self.moment(-300_000), last: Self.moment(-9), next: Self.moment(600)))
        screens.press("E")
        try await screens.until {
            screens.text.contains("The oak") || (screens.root.children.last as? ErrorsScreen)?.list.rows.count == 4
        }
    }
}
