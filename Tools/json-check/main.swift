import Formats
import Glibc

/// Checks whether files are JSON. Uses the parser for servers' lists; the benchmarks compare its time with yajl's.
///
///     swift run -c release json-check FILE…
///
/// Prints a line for each file that is not JSON, and then exits with status 1.
func check(_ path: String) throws {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw FileError.cannotRead }
    defer { close(file) }
    var stream = JSONPushStream()
    var events = EventCount()
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = read(file, &piece, piece.count)
        guard count >= 0 else { throw FileError.cannotRead }
        if count == 0 { return try stream.finish(to: &events) }
        try stream.push(count == piece.count ? piece : Array(piece.prefix(count)), to: &events)
    }
}

enum FileError: Error { case cannotRead }

struct EventCount: JSONConsumer {
    private var events = 0

    mutating func take(_ event: JSONEvent, depth: Int) { events += 1 }
}

var isSound = true
for path in CommandLine.arguments.dropFirst() {
    do { try check(path) } catch {
        isSound = false
        print("\(path): \(error)")
    }
}
exit(isSound ? 0 : 1)
