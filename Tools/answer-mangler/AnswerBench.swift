import Foundation
import HTTP
import Logging
import Synchronization
import TestSupport

/// A server of mangled answers, and the real client that fetches them.
final class AnswerBench: Sendable {
    /// The number of answers that a process fetches before the next process takes over.
    private static let batch: UInt64 = 2_000
    /// The number of concurrent transfers.
    private static let width = 24
    /// Seconds after which a transfer counts as hanging.
    private static let patience = 10.0

    private let current: Int32
    private let inHand = Mutex<Set<UInt64>>([])
    private let words = Mutex<[String: Int]>([:])
    private let server: ScriptedServer
    private let client: HTTPClient
    private let folder = TestFolder()

    init(current path: String) throws {
        current = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        server = try ScriptedServer { request in
            // /SEED/HOP
            let numbers = request.path.split(separator: "/").prefix(2).compactMap { UInt64($0) }
            guard numbers.count == 2 else { return .answer(404) }
            var mangling = AnswerMangling(seed: numbers[0], hop: numbers[1])
            return mangling.steps()
        }
        let configuration = HTTPConfiguration(connectTimeout: 2, stallTimeout: 2)
        client = HTTPClient(configuration, log: Log())
    }

    /// Fetches a batch and prints the results.
    func work(seed: UInt64) async throws {
        await withTaskGroup { group in
            var seeds = (seed &* Self.batch..<(seed &+ 1) &* Self.batch).makeIterator()
            for seed in IteratorSequence(seeds).prefix(Self.width) { group.addTask { await self.fetch(seed) } }
            for _ in 0..<Self.width { _ = seeds.next() }
            while await group.next() != nil {
                guard let seed = seeds.next() else { continue }
                group.addTask { await self.fetch(seed) }
            }
        }
        for (word, count) in words.withLock({ $0 }) { print("\(word)\t\(count)") }
    }

    /// Fetches one answer and prints it with its result.
    func replay(_ seed: UInt64) async throws {
        for hop in 0..<3 {
            var mangling = AnswerMangling(seed: seed, hop: UInt64(hop))
            for step in mangling.steps() {
                guard case .send(let bytes) = step else {
                    print("hop \(hop): \(step)")
                    continue
                }
                print(
                    "hop \(hop): \(bytes.count) bytes, \(String(decoding: bytes.prefix(2_000), as: UTF8.self).debugDescription)"
                )
            }
        }
        print(AnswerSubject(seed: seed, origin: server.url(""), folder: folder).summary)
        await fetch(seed)
        print(words.withLock { $0.keys.joined() })
    }

    private func fetch(_ seed: UInt64) async {
        hold(seed) { $0.insert(seed) }
        let subject = AnswerSubject(seed: seed, origin: server.url(""), folder: folder)
        let word = await subject.fetch(client, patience: Self.patience)
        hold(seed) { $0.remove(seed) }
        words.withLock { $0[word, default: 0] += 1 }
    }

    private func hold(_ seed: UInt64, _ change: (inout Set<UInt64>) -> Void) {
        inHand.withLock { inHand in
            change(&inHand)
            let text = Array(inHand.sorted().map { "\($0)\n" }.joined().utf8)
            ftruncate(current, 0)
            pwrite(current, text, text.count, 0)
        }
    }
}
