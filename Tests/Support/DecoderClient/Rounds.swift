import Foundation
import Pictures
import Pixels
import Synchronization

/// Has pictures decoded by broken decoders, one kind after the other, on several threads at once, and good pictures by the real
/// one all the while.
final class Rounds: Sendable {
    private struct Count {
        var next = 0
        /// How often each kind of failure came of each broken decoder.
        var outcomes: [String: Int] = [:]
        var good = 0
        var spoiled = 0
    }

    /// Decodes good pictures, until all is over.
    private let decoder: Mutex<DecoderClient?>
    private let good: [UInt8]
    private let broken: BrokenPrograms
    private let origin: DecoderClient.Origin
    private let count = Mutex(Count())
    private let request = DecodeRequest(box: PixelSize(width: 16, height: 12))

    private static let threads = 3

    private init(decoder: String, good: [UInt8], broken: BrokenPrograms, from origin: DecoderClient.Origin) {
        self.decoder = Mutex(DecoderClient(path: decoder, from: origin))
        self.good = good
        self.broken = broken
        self.origin = origin
    }

    static func run(
        _ total: Int, decoder: String, good: [UInt8], broken: BrokenPrograms, from origin: DecoderClient.Origin
    ) throws {
        let make = { Rounds(decoder: decoder, good: good, broken: broken, from: origin) }
        // Once, to have loaded what is loaded when it is first needed.
        _ = make().count(0)
        let before = try descriptors()
        // Clients end in here, and so do their servers.
        let final = make().count(total)
        for (outcome, number) in final.outcomes { ClientProgram.tell(outcome, number) }
        ClientProgram.tell("good", final.good)
        ClientProgram.tell("spoiled", final.spoiled)
        ClientProgram.tell("descriptors", try descriptors() - before)
        ClientProgram.tell("children", children())
    }

    private func count(_ total: Int) -> Count {
        let group = DispatchGroup()
        for _ in 0..<Self.threads { start(in: group) { while self.meetBroken(total) {} } }
        // As many good ones as there are broken ones would take too long; one after the other, until those are through.
        start(in: group) { while self.count.withLock({ $0.next < total }) { self.decodeGood() } }
        group.wait()
        decodeGood()
        // A thread may end later than its work, and hold all this so long.
        decoder.withLock { $0 = nil }
        return count.withLock { $0 }
    }

    private func start(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
        group.enter()
        Thread.detachNewThread {
            body()
            group.leave()
        }
    }

    /// Returns whether there was a round left.
    private func meetBroken(_ total: Int) -> Bool {
        let number = count.withLock { count in
            count.next += 1
            return count.next - 1
        }
        guard number < total else { return false }
        let path = broken.path(number)
        let name = path.split(separator: "/").last.map(String.init) ?? path
        do {
            _ = try broken.client(number, from: origin).decode(.bytes(good), request)
            note("\(name): a picture")
        } catch {
            note("\(name): \(error)")
        }
        return true
    }

    private func note(_ outcome: String) {
        count.withLock { $0.outcomes[outcome, default: 0] += 1 }
    }

    private func decodeGood() {
        let decoder = decoder.withLock { $0 }
        let isRight = (try? decoder?.decode(.bytes(good), request))?.isComplete == true
        count.withLock { count in
            if isRight { count.good += 1 } else { count.spoiled += 1 }
        }
    }

    private static func descriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }

    /// Children that were never waited for, ended or not. The system says that there are none, or which one it is.
    private static func children() -> Int {
        var number = 0
        while waitpid(-1, nil, WNOHANG) > 0 { number += 1 }
        if errno != ECHILD { number += 1 }
        return number
    }
}
