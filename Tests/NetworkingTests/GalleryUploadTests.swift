import Foundation
import HTTP
import Logging
import Model
import Scheduling
import Session
import Synchronization
import TestSupport
import Testing

@testable import Networking

/// Uploads to a storage service in memory, which counts requests.
@Suite(.ownThread) struct GalleryUploadTests {
    private let folder = TestFolder()
    private let log = Log(level: .debug)
    private let store = try! UploadStore()

    /// - Parameter published: the path in the gallery; nil for the name.
    private func file(_ name: String, as published: String? = nil) -> OutgoingFile {
        let path = folder.path(name)
        let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        return OutgoingFile(path: published ?? name, size: size) {
            let descriptor = open(path, O_RDONLY)
            var status = stat()
            guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_size == size else {
                throw RequestError.wrongType("a changed file")
            }
            return (descriptor, "image/jpeg")
        }
    }

    private func photos(_ count: Int) -> [OutgoingPhoto] {
        (0..<count).map { number in
            folder.write("\(number).jpg", "photo \(number)")
            folder.write("thumbnails/\(number).jpg", "thumbnail \(number)")
            return OutgoingPhoto(original: file("\(number).jpg"), thumbnail: file("thumbnails/\(number).jpg"))
        }
    }

    private func upload(
        _ photos: [OutgoingPhoto], list: String = "<album/>", governor: any Governor = AdaptiveGovernor(),
        clock: any NetworkClock = MachineClock(), _ onEvent: @escaping @Sendable (UploadEvent) -> Void = { _ in }
    ) async throws -> UploadReport {
        folder.write("gallery.xml", list)
        let credentials = CredentialStore()
        let upload = GalleryUpload(
            to: try Address(store.url), credentials: credentials, client: HTTPClient(log: log), governor: governor,
            schedule: RetrySchedule(maximumAttempts: 3) { 0 }, clock: clock, log: log)
        return try await upload.run(photos, list: file("gallery.xml"), onEvent: onEvent)
    }

    @Test("Photos come before their thumbnails, and the list comes last")
    func order() async throws {
        let report = try await upload(photos(20))
        #expect(report.sent == 41 && report.isListNew && report.failed == 0)
        let puts = store.puts
        #expect(puts.count == 41 && puts.last == "gallery.xml" && store.gets == 1)
        for number in 0..<20 {
            let original = try #require(puts.firstIndex(of: "\(number).jpg"))
            #expect(puts[original...].contains("thumbnails/\(number).jpg"))
        }
    }

    @Test("The next run sends only what the bucket lacks")
    func rest() async throws {
        let photos = photos(10)
        _ = try await upload(photos)
        store.clearLog()
        let second = try await upload(photos)
        #expect(second.sent == 0 && second.unchanged == 21 && !second.isListNew)
        #expect(store.puts.isEmpty)
        // The photo of a missing thumbnail is there, as its tag shows.
        store.remove("thumbnails/3.jpg")
        store.remove("4.jpg")
        store.set("5.jpg", "other 5")
        store.set("6.jpg", "photo 7")
        let report = try await upload(photos)
        #expect(
            Set(store.puts.dropLast()) == [
                "thumbnails/3.jpg", "4.jpg", "thumbnails/4.jpg", "5.jpg", "thumbnails/5.jpg", "6.jpg",
                "thumbnails/6.jpg",
            ])
        #expect(report.sent == 8 && store.puts.last == "gallery.xml")
    }

    @Test("A photo whose name has another spelling of the same letters is sent anew")
    func spellings() async throws {
        let photo = photos(1)[0]
        for (name, object) in [("Ba\u{308}r.jpg", "Ba%CC%88r.jpg"), ("B\u{E4}r.jpg", "B%C3%A4r.jpg")] {
            let spelled = OutgoingPhoto(original: file("0.jpg", as: name), thumbnail: photo.thumbnail)
            #expect(try await upload([spelled]).sent == 3)
            #expect(store.text(object) == "photo 0")
            #expect(try await upload([spelled]).sent == 0)
        }
    }

    @Test("The list of many pages is read whole")
    func pages() async throws {
        store.rules.withLock { $0.pageSize = 3 }
        let photos = photos(8)
        _ = try await upload(photos)
        store.clearLog()
        #expect(try await upload(photos).sent == 0)
        #expect(store.gets == 6)
    }

    @Test("A file that fails keeps the list from being sent")
    func failure() async throws {
        store.rules.withLock { $0.refusals["2.jpg"] = (400, "EntityTooLarge", .max) }
        let failed = Mutex<[String]>([])
        let report = try await upload(photos(5)) { event in
            if case .failed(let path, let reason) = event { failed.withLock { $0.append("\(path): \(reason)") } }
        }
        #expect(report.failed == 1 && report.sent == 8 && !report.isListNew)
        #expect(failed.withLock { $0 } == ["2.jpg: the server answered 400 (EntityTooLarge)"])
        #expect(!store.puts.contains("gallery.xml") && !store.puts.contains("thumbnails/2.jpg"))
    }

    @Test("A busy server is asked again")
    func busy() async throws {
        store.rules.withLock { $0.refusals["1.jpg"] = (503, "SlowDown", 2) }
        let report = try await upload(photos(3))
        #expect(report.sent == 7 && report.failed == 0)
        #expect(store.puts.filter { $0 == "1.jpg" }.count == 3)
    }

    @Test("A refusal that concerns all files ends the run")
    func fatal() async throws {
        store.rules.withLock { $0.everything = (404, "NoSuchBucket") }
        let photos = photos(50)
        let error = await #expect(throws: UploadError.self) {
            try await upload(photos, governor: FixedGovernor(width: 2))
        }
        #expect(
            error.map { "\($0)" }
                == "\(store.url): the server has no bucket with this name")
        #expect(store.puts.count <= 4)
    }

    @Test("A file that changes while it is sent counts as failed, and is sent again by the next run")
    func changed() async throws {
        let photos = photos(1)
        let path = folder.path("0.jpg")
        store.rules.withLock { rules in
            rules.onPut = { name in
                guard name == "0.jpg" else { return }
                try? Data("a longer photo".utf8).write(to: URL(fileURLWithPath: path))
            }
        }
        let report = try await upload(photos)
        #expect(report.failed == 1 && report.sent == 0 && store.puts == ["0.jpg"])
        store.rules.withLock { $0.onPut = { _ in } }
        let next = OutgoingPhoto(original: file("0.jpg"), thumbnail: photos[0].thumbnail)
        #expect(try await upload([next]).sent == 3)
        #expect(store.text("0.jpg") == "a longer photo")
    }

    @Test("A cancelled run ends, and sends no list")
    func cancelled() async throws {
        let gate = Gate()
        store.rules.withLock { $0.gate = gate }
        let photos = photos(30)
        let begun = Gate()
        store.rules.withLock { $0.onPut = { _ in begun.open() } }
        let running = Task { try await upload(photos) }
        #expect(begun.wait())
        running.cancel()
        let report = try await running.value
        #expect(report.isInterrupted && !report.isListNew)
        gate.open()
        #expect(!store.puts.contains("gallery.xml"))
    }
}

/// A storage service in memory with the bucket `photos`.
private final class UploadStore: Sendable {
    struct Rules: Sendable {
        var pageSize = 1_000
        /// Status, code and number of refusals, by name.
        var refusals: [String: (status: Int, code: String, count: Int)] = [:]
        var everything: (status: Int, code: String)?
        /// Called before an object is stored.
        var onPut: @Sendable (String) -> Void = { _ in }
        /// Answers to PUT wait for this gate.
        var gate: Gate?
    }

    let rules = Mutex(Rules())
    /// The objects by name. Names are percent-encoded, because two spellings of a letter make two names.
    private let objects = Mutex<[String: (bytes: [UInt8], time: Int)]>([:])
    private let log = Mutex<[(method: String, name: String)]>([])
    private let server: Mutex<ScriptedServer?>

    init() throws {
        server = Mutex(nil)
        let started = try ScriptedServer { [weak self] in self?.answer($0) ?? [.close] }
        server.withLock { $0 = started }
    }

    deinit { server.withLock { $0?.stop() } }

    var url: String { server.withLock { $0?.url("/photos/") ?? "" } }
    var puts: [String] { log.withLock { $0.filter { $0.method == "PUT" }.map(\.name) } }
    var gets: Int { log.withLock { $0.count { $0.method == "GET" } } }

    func clearLog() { log.withLock { $0 = [] } }
    func remove(_ name: String) { objects.withLock { $0[name] = nil } }
    func text(_ name: String) -> String { objects.withLock { String(decoding: $0[name]?.bytes ?? [], as: UTF8.self) } }

    /// Stores an object a minute later than all others.
    func set(_ name: String, _ text: String) {
        objects.withLock { objects in
            objects[name] = (Array(text.utf8), (objects.values.map(\.time).max() ?? 0) + 60)
        }
    }

    private func answer(_ request: ScriptedServer.Request) -> [ScriptedServer.Step] {
        let name = String(request.path.dropFirst("/photos/".count).prefix { $0 != "?" })
        log.withLock { $0.append((request.method, name)) }
        guard request.method == "PUT" else { return list(request.path) }
        let (refusal, onPut, gate) = rules.withLock { rules -> ((Int, String)?, @Sendable (String) -> Void, Gate?) in
            if let all = rules.everything { return (all, rules.onPut, rules.gate) }
            guard let refusal = rules.refusals[name], refusal.count > 0 else { return (nil, rules.onPut, rules.gate) }
            rules.refusals[name]?.count -= 1
            return ((refusal.status, refusal.code), rules.onPut, rules.gate)
        }
        onPut(name)
        if let (status, code) = refusal { return StandInBucket.refusal(status, code) }
        let hold: [ScriptedServer.Step] = gate.map { [.hold($0)] } ?? []
        if gate == nil {
            let count = log.withLock { $0.count }
            objects.withLock { $0[name] = (request.body, count) }
        }
        return hold + .answer(200, "")
    }

    private func list(_ path: String) -> [ScriptedServer.Step] {
        let begin = path.firstMatch(of: #/continuation-token=(\d+)/#).flatMap { Int($0.1) } ?? 0
        let (all, size) = (objects.withLock { $0 }, rules.withLock { $0.pageSize })
        let names = all.keys.sorted().dropFirst(begin).prefix(size)
        let entries = names.map { name in
            let (bytes, time) = all[name] ?? ([], 0)
            let digest = (try? MD5.text(of: String(decoding: bytes, as: UTF8.self))) ?? ""
            let moment = Date(timeIntervalSince1970: 1_800_000_000 + Double(time)).ISO8601Format()
            return "<Contents><Key>\(name.removingPercentEncoding ?? "")</Key><LastModified>\(moment)</LastModified>"
                + "<ETag>\"\(digest)\"</ETag>"
                + "<Size>\(bytes.count)</Size></Contents>"
        }
        let isTruncated = begin + names.count < all.count
        let next = isTruncated ? "<NextContinuationToken>\(begin + names.count)</NextContinuationToken>" : ""
        return .answer(
            200,
            "<ListBucketResult><IsTruncated>\(isTruncated)</IsTruncated>\(next)\(entries.joined())</ListBucketResult>",
            headers: ["Content-Type: application/xml"])
    }
}
