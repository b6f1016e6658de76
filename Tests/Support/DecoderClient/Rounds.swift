import Foundation
import Pictures
import Pixels
import Synchronization

/// Decodes with broken decoders on several threads, while the real one decodes good pictures.
final class Rounds: Sendable {
    private struct Count {
        var next = 0
        /// The number of failures of each kind for each broken decoder.
        var outcomes: [String: Int] = [:]
        var good = 0
        var spoiled = 0
    }

    /// Decodes good pictures until the end.
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
        // A first round loads everything that is loaded on demand.
        _ = make().count(0)
        let before = try descriptors()
        // Clients and their servers end within this call.
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
        // One thread decodes good pictures in turn until the broken ones are done; one per broken decoder would take
        // too long.
        start(in: group) { while self.count.withLock({ $0.next < total }) { self.decodeGood() } }
        group.wait()
        decodeGood()
        // A thread may outlive its work, and would keep the client alive.
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

    /// Runs the next round. Returns false if none was left.
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

    /// Children that were not reaped. The system reports that there are none, or which one there is.
    private static func children() -> Int {
        var number = 0
        while waitpid(-1, nil, WNOHANG) > 0 { number += 1 }
        if errno != ECHILD { number += 1 }
        return number
    }
}
