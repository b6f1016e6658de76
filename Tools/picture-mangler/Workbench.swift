import Foundation

/// Where pictures are mangled and decoded, in a process that may die of it.
struct Workbench {
    /// How many pictures a process decodes before it makes room for the next.
    static let batch = 2_000
    /// Seconds after which a picture counts as one that hangs a decoder: in the helper, the processor's time ends before.
    private static let patience: UInt32 = 60

    /// The folder of pictures to begin with.
    let corpus: String
    /// The file that holds the picture which is being decoded: what is in it when the process dies is what it died of.
    let current: String

    func work(seed: UInt64) throws {
        let files = try Corpus.read(from: corpus)
        let descriptor = open(current, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { exit(2) }
        var words: [String: Int] = [:]
        for number in 0..<UInt64(Self.batch) {
            var mangling = Mangling(seed: seed &* UInt64(Self.batch) &+ number)
            let bytes = mangling.mangle(files)
            guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else {
                exit(2)
            }
            alarm(Self.patience)
            words[Subject(bytes: bytes).decode(), default: 0] += 1
        }
        alarm(0)
        for (word, count) in words { print("\(word)\t\(count)") }
    }
}
