import Foundation

/// Mangles and decodes pictures in a process that may crash.
struct Workbench {
    /// The number of pictures per process.
    static let batch = 2_000
    /// Seconds after which a picture counts as hanging. The decoder's limit of processor time is shorter.
    private static let timeout: UInt32 = 60

    /// The folder of original pictures.
    let corpus: String
    /// The file with the current picture, which is the finding if the process crashes.
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
            alarm(Self.timeout)
            words[Subject(bytes: bytes).decode(), default: 0] += 1
        }
        alarm(0)
        for (word, count) in words { print("\(word)\t\(count)") }
    }
}
