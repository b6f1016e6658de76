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

/// The cost of an action that is repeated.
struct Cost {
    /// Milliseconds by the clock, including interference by other processes.
    private var times: [Double] = []
    /// Milliseconds of processor time, including reaped children.
    private var work = 0.0
    /// The number of repetitions.
    private var count = 0

    /// Runs the action, and counts it as `count` repetitions.
    mutating func add(_ count: Int = 1, _ body: () throws -> Void) rethrows {
        let (time, work) = (Self.time, Self.work)
        try body()
        times.append((Self.time - time) / Double(count))
        self.work += Self.work - work
        self.count += count
    }

    /// The median by the clock, and the mean of processor time.
    var text: String {
        "\(Self.text(times.sorted()[times.count / 2])) ms, \(Self.text(meanWork)) ms of processor time"
    }

    /// Returns the additional milliseconds of processor time compared with another cost.
    func more(than other: Cost) -> String {
        Self.text(meanWork - other.meanWork)
    }

    private var meanWork: Double { work / Double(count) }

    private static var time: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }

    private static var work: Double {
        work(of: RUSAGE_SELF) + work(of: RUSAGE_CHILDREN)
    }

    private static func work(of who: __rusage_who) -> Double {
        var usage = rusage()
        getrusage(who.rawValue, &usage)
        let seconds = Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        return seconds * 1e3 + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3
    }

    private static func text(_ number: Double) -> String {
        let hundredths = Int((abs(number) * 100).rounded())
        return "\(number < 0 ? "-" : "")\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }
}
