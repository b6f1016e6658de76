import Foundation
import Logging
import Numbers
import TestSupport
import Testing

@testable import HTTP

/// Local files, read as if they came over the network.
@Suite(.ownThread) struct FileTransferTests {
    private let client = HTTPClient(log: Log())
    private let folder = TestFolder()

    private func request(_ path: String, headers: [(name: String, value: String)] = []) -> HTTPRequest {
        HTTPRequest(
            url: "file://" + path.replacingOccurrences(of: " ", with: "%20"), headers: headers, destination: .stream,
            limit: 1 << 24, allowsFiles: true)
    }

    private func fetch(_ request: HTTPRequest) async throws -> (response: HTTPResponse?, bytes: [UInt8]) {
        var (response, bytes): (HTTPResponse?, [UInt8]) = (nil, [])
        for try await event in client.transfer(request) {
            if case .response(let head) = event { response = head }
            if case .bytes(let more) = event { bytes += more }
        }
        return (response, bytes)
    }

    @Test func filesAreReadWhereAllowed() async throws {
        var request = request(folder.write("a b.xml", "contents"))
        let outcome = try await fetch(request)
        #expect(outcome.response?.status == 200 && outcome.bytes == Array("contents".utf8))
        #expect(outcome.response?.length == 8)
        request.allowsFiles = false
        await #expect(throws: HTTPError.self) { try await fetch(request) }
    }

    /// A name is bytes, which need not be valid text.
    @Test func fileNamesMayHoldAnyBytes() async throws {
        let name = Array(folder.path("").utf8.map { CChar(bitPattern: $0) }) + [-1, -2, 0x20, 0]
        let descriptor = open(name, O_WRONLY | O_CREAT, 0o600)
        defer { close(descriptor) }
        #expect(write(descriptor, "contents", 8) == 8)
        #expect(try await fetch(request(folder.path("%FF%fe "))).bytes == Array("contents".utf8))
        await #expect {
            try await fetch(request(folder.path("%FF%fe %00x")))
        } throws: {
            if case HTTPError.file = $0 { true } else { false }
        }
    }

    @Test func specialFilesAreRefused() async throws {
        mkfifo(folder.path("pipe"), 0o600)
        for path in [folder.path("missing"), folder.path, folder.path("pipe"), "/dev/zero"] {
            await #expect {
                try await fetch(request(path))
            } throws: {
                // A later attempt would not help.
                switch $0 as? HTTPError {
                case .file, .unreadable: ($0 as? HTTPError)?.isTransient == false
                default: false
                }
            }
        }
        var small = request(folder.write("large", String(repeating: "x", count: 100)))
        small.limit = 99
        await #expect(throws: HTTPError.tooLarge(limit: 99)) { try await fetch(small) }
    }

    @Test("A file outside of the gallery’s folder is refused, however its path is written")
    func outsideIsRefused() async throws {
        folder.write("secret", "secret")
        folder.write("gallery/photo 1", "inside")
        folder.write("gallery-two/photo", "secret")
        symlink("../secret", folder.path("gallery/link"))
        symlink("photo 1", folder.path("gallery/same"))
        for top in [folder.path("gallery"), folder.path("gallery/"), folder.path("%67allery")] {
            for path in ["gallery/photo%201", "gallery//photo%201", "gallery/same", "%67allery/./photo%201"] {
                var request = request(folder.path(path))
                request.addressPolicy = .filesBelow("file://" + top)
                #expect(try await fetch(request).bytes == Array("inside".utf8))
            }
            for path in ["secret", "gallery/link", "gallery/../secret", "gallery/%2e%2e%2fsecret", "gallery-two/photo"]
            {
                var request = request(folder.path(path))
                request.addressPolicy = .filesBelow("file://" + top)
                let error = await #expect(throws: HTTPError.self, "\(path)") { try await fetch(request) }
                #expect(error?.description.contains("outside") == true, "\(path)")
            }
        }
        var request = request(folder.path("gallery/same"))
        request.addressPolicy = .publicOnly(except: nil)
        await #expect(throws: HTTPError.self) { try await fetch(request) }
    }

    @Test("BEHAVIOURS 2.7: an unchanged file is not read again")
    func unchanged() async throws {
        let path = folder.write("list.xml", "one")
        let tag = try #require(try await fetch(request(path)).response?.headers["etag"])
        let again = try await fetch(request(path, headers: [("If-None-Match", tag)]))
        #expect(again.response?.status == 304 && again.bytes.isEmpty)
        // The same size, in the same file.
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.write(contentsOf: Array("two".utf8))
        let changed = try await fetch(request(path, headers: [("If-None-Match", tag)]))
        #expect(changed.response?.status == 200 && changed.bytes == Array("two".utf8))
    }

    /// More than the mailbox holds: the transfer waits, and nothing is lost or read twice.
    @Test func aSlowReaderPausesTheTransfer() async throws {
        let contents = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) })
        try contents.write(to: URL(fileURLWithPath: folder.path("large")))
        var taken: [UInt8] = []
        for try await event in client.transfer(request(folder.path("large"))) {
            guard case .bytes(let bytes) = event else { continue }
            #expect(bytes.count <= TransferMailbox.capacity + (1 << 17))
            taken += bytes
            for _ in 0..<20 { await Task.yield() }
        }
        #expect(taken == Array(contents))
    }

    @Test func aFileIsCopiedIntoAFile() async throws {
        let contents = String(repeating: "0123456789", count: 50_000)
        var request = request(folder.write("from", contents))
        let descriptor = open(folder.path("to"), O_WRONLY | O_CREAT, 0o600)
        defer { close(descriptor) }
        request.destination = .file(try BodyFile(duplicating: descriptor))
        _ = try await fetch(request)
        #expect(try String(contentsOfFile: folder.path("to"), encoding: .utf8) == contents)
    }

    /// The next transfer may write into the same file.
    @Test func aCancelledCopyWritesNothingMore() async throws {
        let (source, target) = (folder.write("large", ""), folder.write("to", ""))
        #expect(truncate(source, 1 << 34) == 0)
        let descriptor = open(target, O_WRONLY)
        #expect(flock(descriptor, LOCK_EX) == 0)
        let size: ByteCount?
        do {
            var request = request(source)
            request.limit = 1 << 34
            let file = try BodyFile(duplicating: descriptor)
            close(descriptor)
            request.destination = .file(file)
            let transfer = client.transfer(request)
            for try await event in transfer { if case .written = event { break } }
            transfer.cancel()
            size = file.size
        }
        // The lock is held by every possible writer, so none is left when this returns.
        let other = open(target, O_RDONLY)
        defer { close(other) }
        #expect(flock(other, LOCK_EX) == 0)
        #expect(try #require(size).int == lseek(other, 0, SEEK_END) && size != 1 << 34)
    }

    @Test func aCancelledReadEnds() async throws {
        let transfer = client.transfer(request(folder.write("large", String(repeating: "x", count: 1 << 20))))
        var pieces = 0
        await #expect(throws: CancellationError.self) {
            for try await event in transfer {
                guard case .bytes = event else { continue }
                pieces += 1
                transfer.cancel()
            }
        }
        #expect(pieces >= 1)
    }
}
