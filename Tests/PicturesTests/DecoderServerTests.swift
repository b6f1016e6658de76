import Foundation
import PictureTestSupport
import Pixels
import Synchronization
import TestSupport
import Testing

@testable import Pictures

/// The decoder server: its requests, its end, and the effect on its pictures.
@Suite(.ownThread, .disabled(if: Sanitizer.isOn, "the decoder limits its address space"))
struct DecoderServerTests {
    private let folder = TestFolder()
    private let request = DecodeRequest(box: PixelSize(width: 16, height: 12))
    private let scene = PixelBuffer.scene(width: 16, height: 12)

    private let noted: NotedDecoder

    init() throws { noted = try NotedDecoder(in: folder) }

    /// The process identifiers of the servers and programs started.
    private func starts() throws -> (servers: [pid_t], programs: [pid_t]) {
        let starts = try noted.starts
        let numbers = { (isServer: Bool) in starts.filter { ($0.role == "--serve") == isServer }.map(\.number) }
        return (numbers(true), numbers(false))
    }

    private func decode(_ client: DecoderClient) throws -> PixelBuffer? {
        try client.decode(.bytes(PNGFile(scene).bytes), request).pixels
    }

    private func isThere(_ process: pid_t) -> Bool {
        kill(process, 0) == 0
    }

    @Test func oneServerDecodesManyPictures() throws {
        let client = DecoderClient(path: noted.path, from: .server)
        for _ in 0..<20 { #expect(try decode(client) == scene) }
        #expect(try starts().servers.count == 1 && starts().programs.isEmpty)
    }

    /// Its processes share their addresses, so it is replaced from time to time.
    @Test func serversAreReplaced() throws {
        let client = DecoderClient(path: noted.path, from: .server)
        for _ in 0...DecoderServer.lifetime { _ = try decode(client) }
        let servers = try starts().servers
        #expect(servers.count == 2 && !isThere(servers[0]) && isThere(servers[1]))
        #expect(try starts().programs.isEmpty)
    }

    @Test func endsWithItsLastClient() throws {
        var clients = [DecoderClient(path: noted.path, from: .server)]
        clients.append(clients[0])
        _ = try decode(clients[0])
        clients.removeFirst()
        let server = try #require(try starts().servers.first)
        #expect(isThere(server))
        clients.removeFirst()
        #expect(!isThere(server))
    }

    /// Vitrine is killed, and closes nothing itself.
    @Test func endsWithVitrine() throws {
        let good = folder.write("good", PNGFile(scene).bytes)
        let command = try Command(
            Built.folder + "/decoder-client", ["leave", noted.path, good, "now"])
        #expect(command.status != 0)
        let server = try #require(try starts().servers.first)
        while isThere(server), !isZombie(server) { sched_yield() }
    }

    /// Whether it has ended but was not reaped by its new parent.
    private func isZombie(_ process: pid_t) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return true }
        return status.contains("State:\tZ")
    }

    @Test func restartsALostServer() throws {
        let client = DecoderClient(path: noted.path, from: .server)
        for count in 1...3 {
            #expect(try decode(client) == scene)
            let servers = try starts().servers
            #expect(servers.count == count)
            kill(servers[count - 1], SIGKILL)
        }
        #expect(try decode(client) == scene)
        #expect(try starts().programs.isEmpty)
    }

    /// The first connection leads to the server, and each picture gets a further one.
    @Test("A server survives a picture for which this process has no descriptors", arguments: [2, 4])
    func shortOfDescriptors(connection: Int) throws {
        let good = folder.write("good", PNGFile(scene).bytes)
        let faults = Faults(
            in: "/", .error(EMFILE, connection...connection), only: Faults.Call(name: "socketpair", path: "/"))
        let command = try Command(
            Built.folder + "/decoder-client", ["turns", noted.path, good, "6"],
            environment: ProcessInfo.processInfo.environment.merging(faults.environment) { $1 })
        #expect(command.status == 0 && command.lines == ["good\t6"], "\(command.errors)")
        #expect(faults.calls.count == 7)
        #expect(try starts().servers.count == 1 && starts().programs.count == 1)
    }

    /// A picture whose library the server has not loaded, and may not load.
    @Test func rareFormatsGoToPrograms() throws {
        let client = DecoderClient(path: noted.path, from: .server)
        let tiff = try Tool.convert(scene.ppm, "-", "tiff:-")
        let reply = try client.decode(.bytes(tiff), request)
        #expect(reply.format == "TIFF" && reply.pixels == scene)
        #expect(try starts().servers.count == 1 && starts().programs.count == 1)
        #expect(try decode(client) == scene)
        #expect(try starts().programs.count == 1)
    }

    /// Many at once, each with its own size: no client gets another's answer.
    @Test func concurrentAnswersAreNotConfused() throws {
        let client = DecoderClient(path: noted.path, from: .server)
        let wrong = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 60) { [folder] index in
            let scene = PixelBuffer.noise(width: 10 + index, height: 12)
            let bytes = PNGFile(scene).bytes
            let source = index % 2 == 0 ? PictureSource.bytes(bytes) : .file(folder.write("\(index)", bytes))
            let request = DecodeRequest(box: scene.size)
            if (try? client.decode(source, request))?.pixels != scene { wrong.withLock { $0 += 1 } }
        }
        #expect(wrong.withLock { $0 } == 0)
        #expect(try starts().servers.count == 1 && starts().programs.isEmpty)
    }

    @Test func survivesBrokenProcesses() throws {
        for (name, error) in BrokenDecoders.links {
            let error = BrokenDecoders.served[name] ?? error
            let client = DecoderClient(
                path: try BrokenDecoders.link(name, in: folder), budget: error == .tookTooLong ? 300 : 10_000,
                from: .server)
            // The server is not affected: it forks the next process, which breaks too.
            for _ in 0..<2 { #expect(throws: error, "\(name)") { try decode(client) } }
        }
    }

    @Test func survivesBrokenServers() throws {
        for (name, error) in BrokenDecoders.servers {
            let client = DecoderClient(
                path: try BrokenDecoders.link(name, in: folder), budget: error == .tookTooLong ? 300 : 10_000,
                from: .server)
            if let error {
                #expect(throws: error, "\(name)") { try decode(client) }
            } else {
                for _ in 0..<2 { #expect(try decode(client)?.size == request.box, "\(name)") }
            }
        }
    }

    /// A server that never serves is not used again.
    @Test func hangingServersAreTriedOnce() throws {
        let client = DecoderClient(
            path: try BrokenDecoders.link("server-hangs", in: folder), budget: 300, from: .server)
        #expect(throws: PictureError.tookTooLong) { try decode(client) }
        #expect(try decode(client)?.size == request.box)
    }

    /// The server exchanges two answers: neither client accepts the other's.
    @Test func exchangedAnswersAreRefused() throws {
        let client = DecoderClient(
            path: try BrokenDecoders.link("server-answers-for-another", in: folder), from: .server)
        let errors = Mutex<[PictureError]>([])
        let gates = [Gate(), Gate()]
        for (index, gate) in gates.enumerated() {
            Thread.detachNewThread { [picture = PNGFile(scene).bytes] in
                let request = DecodeRequest(box: PixelSize(width: 10 + 10 * index, height: 20 - 10 * index))
                do throws(PictureError) {
                    _ = try client.decode(.bytes(picture), request)
                } catch {
                    errors.withLock { $0.append(error) }
                }
                gate.open()
            }
        }
        #expect(gates.allSatisfy { $0.wait() })
        #expect(errors.withLock { $0 } == [.decoderDied, .decoderDied])
    }

    /// A picture that hangs is ended at its time limit, and the server's other pictures continue.
    @Test func hangingPicturesEndAlone() throws {
        let client = DecoderClient(
            path: try BrokenDecoders.link("hangs-on-large-ones", in: folder), budget: 2_000, from: .server)
        let isOver = Gate()
        Thread.detachNewThread { [picture = PNGFile(scene).bytes] in
            let large = DecodeRequest(box: PixelSize(width: 2_000, height: 12))
            #expect(throws: PictureError.tookTooLong) { try client.decode(.bytes(picture), large) }
            isOver.open()
        }
        while !isOver.isOpen { #expect(try decode(client)?.size == request.box) }
        #expect(try decode(client)?.size == request.box)
    }

    /// Before the start, during it and while it runs, the process ends long before its time limit.
    @Test func cancellationEndsTheProcess() throws {
        let client = DecoderClient(
            path: try BrokenDecoders.link("hangs-on-large-ones", in: folder), budget: 1_000_000, from: .server)
        for _ in 0..<20 {
            let cancellation = DecodeCancellation()
            let isOver = Gate()
            let thrown = Mutex<PictureError?>(nil)
            Thread.detachNewThread { [picture = PNGFile(scene).bytes] in
                let large = DecodeRequest(box: PixelSize(width: 2_000, height: 12))
                do throws(PictureError) {
                    _ = try client.decode(.bytes(picture), large, cancellation: cancellation)
                } catch {
                    thrown.withLock { $0 = error }
                }
                isOver.open()
            }
            cancellation.cancel()
            #expect(isOver.wait())
            #expect(thrown.withLock { $0 } == .cancelled)
            #expect(try decode(client)?.size == request.box)
        }
    }
}
