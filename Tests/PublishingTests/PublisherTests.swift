import Foundation
import Model
import Pictures
import Synchronization
import TestSupport
import Testing

@testable import Publishing

/// Uses real photos and the real decoder.
@Suite(.ownThread) struct PublisherTests {
    private let folder = TestFolder()
    private let counted: CountedDecoder

    init() throws {
        counted = try CountedDecoder()
    }

    private func add(_ picture: String, as name: String) throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(Built.testGallery)/\(picture)"))
        folder.write(name, [UInt8](bytes))
    }

    @discardableResult
    private func publish(edition: String = "1") async throws -> (PublishReport, [PublishEvent]) {
        let publisher = try Publisher(
            folder.path, mask: CreationMask(0o022), decoder: DecoderClient(path: counted.decoder),
            decoderEdition: edition, width: 2)
        let events = Mutex<[PublishEvent]>([])
        let report = try await publisher.run { event in
            if case .progress = event { return }
            events.withLock { $0.append(event) }
        }
        return (report, events.withLock { $0 })
    }

    private var list: String { (try? String(contentsOfFile: folder.path("gallery.xml"), encoding: .utf8)) ?? "" }

    private func thumbnails() -> [String] { folder.entries("thumbnails").filter { !$0.hasPrefix(".") } }

    @Test("Only changed files are processed") func processesChanges() async throws {
        for name in ["owl", "moon", "tulips"] { try add("thumbnails/\(name).jpg", as: "\(name).jpg") }
        folder.write("notes.txt", "no picture")
        let (first, events) = try await publish()
        #expect(first.photos == 3 && first.added == 3 && first.others == 1 && first.isListNew && first.failed == 0)
        #expect(events == [.added("moon.jpg"), .added("owl.jpg"), .added("tulips.jpg")])
        #expect(counted.count() == 3 && thumbnails().count == 3)
        let (again, nothing) = try await publish()
        #expect(again.photos == 3 && again.added == 0 && !again.isListNew && nothing.isEmpty && counted.count() == 0)
        // Remove one, add one, change one.
        let old = thumbnails()
        unlink(folder.path("moon.jpg"))
        try add("thumbnails/snow.jpg", as: "below/snow.jpg")
        try add("images/dot.png", as: "owl.jpg")
        let (changed, three) = try await publish()
        #expect(three == [.added("below/snow.jpg"), .changed("owl.jpg"), .removed("moon.jpg")])
        #expect(changed.photos == 3 && changed.isListNew && counted.count() == 2)
        #expect(thumbnails().count == 3 && Set(thumbnails()).intersection(old).count == 1)
        #expect(list.contains("id=\"below/snow.jpg\"") && !list.contains("moon"))
        #expect(!folder.entries("thumbnails").contains { $0.hasPrefix(NewFile.prefix) })
        try await publish()
        #expect(counted.count() == 0)
    }

    @Test(
        "A photo leaves the gallery when something else takes the place of its file",
        arguments: ["", "version https://git-lfs.github.com/spec/v1\n"])
    func replacedByOther(contents: String) async throws {
        try add("thumbnails/owl.jpg", as: "a.jpg")
        try add("thumbnails/moon.jpg", as: "b.jpg")
        try await publish()
        folder.write("b.jpg", contents)
        let (report, events) = try await publish()
        #expect(report.removed == 1 && report.photos == 1 && report.others == 1 && events == [.removed("b.jpg")])
        #expect(thumbnails().count == 1 && list.contains("id=\"a.jpg\"") && !list.contains("id=\"b.jpg\""))
        let (again, nothing) = try await publish()
        #expect(again.others == 1 && again.removed == 0 && !again.isListNew && nothing.isEmpty)
    }

    @Test("Only photos of the list are sent") func filesToSend() async throws {
        try add("thumbnails/owl.jpg", as: "a.jpg")
        try add("thumbnails/moon.jpg", as: "b.jpg")
        try await publish()
        try add("thumbnails/tulips.jpg", as: "b.jpg")
        let broken = DecoderClient(path: try folder.writeProgram("broken-decoder", "#!/bin/sh\nexit 1\n"))
        let publisher = try Publisher(
            folder.path, mask: CreationMask(0o022), decoder: broken, decoderEdition: "1", width: 1)
        let report = try await publisher.run(collectsFiles: true)
        #expect(report.photos == 1 && report.failed == 1 && report.removed == 0 && !list.contains("id=\"b.jpg\""))
        let sent = await publisher.gallery?.photos.map { $0.original.path }
        #expect(sent == ["a.jpg"])
        let (after, events) = try await publish()
        #expect(after.photos == 2 && events == [.changed("b.jpg")])
    }

    @Test("A changed photo gets a new date") func changedPhoto() async throws {
        try add("images/dawn-ridge.jpg", as: "a.jpg")
        try await publish()
        let before = list
        utimes(folder.path("a.jpg"), [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1, tv_usec: 0)])
        try await publish()
        #expect(before.contains(":17Z\"") && list.contains(":17.001Z\""))
    }

    /// The file is missing, empty or undecodable.
    @Test(
        "A photo that returns with other contents gets a new date",
        arguments: [nil, [], [0xFF, 0xD8, 0xFF, 0xE0]] as [[UInt8]?])
    func returnedPhoto(meanwhile: [UInt8]?) async throws {
        try add("images/dawn-ridge.jpg", as: "a.jpg")
        try await publish()
        let before = list
        if let meanwhile { folder.write("a.jpg", meanwhile) } else { unlink(folder.path("a.jpg")) }
        #expect(try await publish().0.removed == 1)
        try add("images/dawn-ridge.jpg", as: "a.jpg")
        utimes(folder.path("a.jpg"), [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1, tv_usec: 0)])
        #expect(try await publish().0.added == 1)
        #expect(before.contains(":17Z\"") && list.contains(":17.001Z\""))
    }

    @Test("A photo that was missing in one run returns with its date") func missingPhoto() async throws {
        try add("images/dawn-ridge.jpg", as: "a.jpg")
        try await publish()
        utimes(folder.path("a.jpg"), [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1, tv_usec: 0)])
        try await publish()
        let before = list
        rename(folder.path("a.jpg"), folder.path(".a.jpg"))
        #expect(try await publish().0.photos == 0)
        rename(folder.path(".a.jpg"), folder.path("a.jpg"))
        try await publish()
        #expect(before.contains(":17.001Z\"") && list == before)
    }

    @Test("An undecodable file is reported in each run but decoded once") func undecodable() async throws {
        try add("images/damaged.jpg", as: "damaged.jpg")
        try add("images/truncated.jpg", as: "truncated.jpg")
        try add("images/owl.jpg", as: "owl.jpg")
        folder.write("cut.jpg", [0xFF, 0xD8, 0xFF, 0xE0])
        let (first, said) = try await publish()
        #expect(first.failed > 0 && said.contains(.cutShort("truncated.jpg")))
        #expect(counted.count() == 4)
        let (again, saidAgain) = try await publish()
        #expect(again.failed == first.failed && again.photos == first.photos && counted.count() == 0)
        let kept = said.filter { if case .added = $0 { false } else { true } }
        #expect(saidAgain == kept)
        // Another decoder edition may read the file.
        try await publish(edition: "2")
        #expect(counted.count() == first.failed)
    }

    @Test("Lost thumbnails are made again") func lostThumbnails() async throws {
        try add("thumbnails/owl.jpg", as: "owl.jpg")
        try await publish()
        let name = try #require(thumbnails().first)
        unlink(folder.path("thumbnails/" + name))
        let before = list
        let (report, _) = try await publish()
        #expect(report.changed == 1 && thumbnails() == [name] && list == before && counted.count() == 2)
        unlink(folder.path("gallery.xml"))
        #expect(try await publish().0.isListNew)
        #expect(list == before && counted.count() == 0)
    }

    @Test("A broken record is rebuilt", arguments: ["", "nonsense\n", "\u{0}\u{1}"]) func brokenRecord(contents: String)
        async throws
    {
        try add("thumbnails/owl.jpg", as: "owl.jpg")
        try await publish()
        let before = (list, thumbnails())
        folder.write("thumbnails/" + PublishRecord.name, contents)
        let (report, _) = try await publish()
        #expect(report.added == 1 && !report.isListNew && (list, thumbnails()) == before)
        try await publish()
        #expect(counted.count() == 2)
    }

    @Test("The user's files are not changed") func usersFiles() async throws {
        try add("thumbnails/owl.jpg", as: "owl.jpg")
        folder.write("thumbnails/mine.jpg", "mine")
        try await publish()
        unlink(folder.path("owl.jpg"))
        let (report, _) = try await publish()
        #expect(report.removed == 1 && report.photos == 0 && thumbnails() == ["mine.jpg"])
        #expect(list == ListText.beginning + ListText.end)
    }

    @Test("A missing decoder is reported once") func missingDecoder() async throws {
        for number in 0..<5 { try add("thumbnails/owl.jpg", as: "\(number).jpg") }
        let decoder = DecoderClient(path: folder.path("none"))
        let publisher = try Publisher(
            folder.path, mask: CreationMask(0o022), decoder: decoder, decoderEdition: "1", width: 1)
        let error = await #expect(throws: PublishingError.self) { try await publisher.run() }
        #expect(error?.description.hasPrefix("The picture decoder cannot be started: ") == true)
    }

    @Test("A folder without photos is not changed") func emptyFolder() async throws {
        folder.write("notes.txt", "no picture")
        await #expect(throws: PublishingError.noPhotos(path: folder.path)) { try await publish() }
        #expect(folder.entries() == ["notes.txt"])
    }

    @Test("Two publishers cannot work on one folder") func lock() async throws {
        try add("thumbnails/owl.jpg", as: "owl.jpg")
        let decoder = DecoderClient(path: counted.decoder)
        let first = try Publisher(
            folder.path, mask: CreationMask(0o022), decoder: decoder, decoderEdition: "1", width: 1)
        #expect(throws: PublishingError.locked(path: folder.path)) {
            try Publisher(folder.path, mask: CreationMask(0o022), decoder: decoder, decoderEdition: "1", width: 1)
        }
        #expect(try await first.run().photos == 1)
    }

    @Test("A cancelled run leaves the list unchanged") func cancelled() async throws {
        for number in 0..<50 { try add("thumbnails/owl.jpg", as: "\(number).jpg") }
        let publisher = try Publisher(
            folder.path, mask: CreationMask(0o022), decoder: DecoderClient(path: counted.decoder), decoderEdition: "1",
            width: 1)
        let working = Task {
            try await publisher.run { event in
                if case .added = event { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        #expect(try await working.value.isInterrupted)
        #expect(!folder.entries().contains("gallery.xml"))
        let done = counted.count()
        #expect(done < 50)
    }
}
