import Decoding
import Glibc
import Pictures
import Pixels

/// Measures the cost of decoding in a confined process: decodes the same picture in this process, in a program
/// started for it, and in a server's process, in turns.
///
///     swift run -c release --static-swift-stdlib decoder-cost .build/release/vitrine-decoder PICTURE [ROUNDS]
///
/// It also measures a process that does nothing, the system's own cost of starting and ending one.
@main
enum DecoderCost {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 2, let rounds = Int(arguments.count > 3 ? arguments[3] : "500") else { exit(2) }
        let bytes = try contents(of: arguments[2])
        let request = DecodeRequest(box: PixelSize(width: 160, height: 120))
        let decoder = DecoderClient(path: arguments[1])
        let nothing = DecoderClient(path: "/bin/true")
        var (here, there, served, idle) = (Cost(), Cost(), Cost(), Cost())
        for round in 0..<rounds {
            // A server's cost is known only after it has ended.
            if round % servedTogether == 0 {
                try served.add(servedTogether) {
                    let decoder = DecoderClient(path: arguments[1], from: .server)
                    for _ in 0..<servedTogether { _ = try decoder.decode(.bytes(bytes), request) }
                }
            }
            try here.add { _ = try bytes.withUnsafeBytes { try Decoder.decode($0, request) } }
            try there.add { _ = try decoder.decode(.bytes(bytes), request) }
            // It gives no answer, which is an error.
            idle.add { _ = try? nothing.decode(.bytes(bytes), request) }
        }
        print("in this process: \(here.text)")
        print("in a process of its own: \(there.text), \(there.more(than: here)) ms more")
        print("in a server's process: \(served.text), \(served.more(than: here)) ms more")
        print("a process that does nothing: \(idle.text)")
    }

    /// The number of pictures per server.
    private static let servedTogether = 100

    private static func contents(of path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else { exit(3) }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        guard read(descriptor, &bytes, bytes.count) == bytes.count else { exit(3) }
        return bytes
    }
}
