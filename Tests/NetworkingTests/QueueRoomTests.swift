import Foundation
import TestSupport
import Testing

/// What waits for a server that answers nothing takes little room. In a program of its own: what tests have used before would
/// be used again, and not counted.
@Suite(.unlessItHangs) struct QueueRoomTests {
    private let gate = Gate()
    private let folder = TestFolder()
    private let server: ScriptedServer

    /// KiB.
    private static let room = 30 * 1_024

    init() throws {
        // Nobody keeps them in memory.
        for count in [100, 100_000] { _ = folder.write("\(count).xml", Self.list(count)) }
        server = try ScriptedServer { [gate, folder] request in
            guard request.path.hasSuffix(".xml") else { return [.hold(gate), .reset] }
            return .answer(200, Array(FileManager.default.contents(atPath: folder.path + request.path) ?? Data()))
        }
    }

    private static func list(_ count: Int) -> String {
        let photos = (0..<count).map {
            """
            <photo id="\($0)" name="Photo \($0)" date="2006-01-01T00:00:00Z"><image kind="image" srcURL="p/\($0)"/>\
            <image kind="thumbnail" srcURL="t/\($0)"/></photo>
            """
        }
        return "<album>\(photos.joined())</album>"
    }

    /// What the program says of a gallery of so many photos: KiB.
    @discardableResult
    private func run(_ way: String, _ photos: Int, _ count: Int? = nil) throws -> Int? {
        let arguments = [way, server.url("/\(photos).xml"), folder.path("cache")] + (count.map { ["\($0)"] } ?? [])
        let command = try Command(Built.folder + "/queue-cost", arguments)
        #expect(command.status == 0, "\(command.errors)")
        return command.lines.first.flatMap { Int($0) }
    }

    private func stop() {
        gate.open()
        server.stop()
    }

    /// However many photos there are, 512 of them are taken up at a time.
    @Test func everyThumbnailOfAHundredThousandTakesLittleRoom() throws {
        defer { stop() }
        for photos in [100, 100_000] { try run("fill", photos) }
        let few = try #require(try run("sweep", 100, 100))
        let many = try #require(try run("sweep", 100_000, 512))
        #expect(many - few <= Self.room, "they take \(many - few) KiB")
    }

    /// Many more than are on any screen, and near to it. Every one of them is taken up.
    @Test func aHundredThousandThatStandTakeLittleRoom() throws {
        defer { stop() }
        try run("fill", 100_000)
        let few = try #require(try run("stand", 100_000, 100))
        let many = try #require(try run("stand", 100_000, 100_000))
        #expect(many - few <= Self.room, "they take \(many - few) KiB")
    }
}
