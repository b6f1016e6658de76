import Model
import Numbers

/// How many bytes came in each of the last sixty seconds.
///
/// It has no clock: time passes in it when somebody tells it how much has come. A second of which nothing was told is one in
/// which nothing came.
struct SpeedHistory {
    /// The seconds that are kept.
    static let length = 60

    /// By the second's number, modulo the length; it is that of the last so many seconds up to ``newest``.
    private var bytes = [ByteCount](repeating: 0, count: length)
    /// The second that was last told of.
    private var newest: Int64?
    /// All that had come then.
    private var received: ByteCount?

    /// Takes in how much has come altogether.
    mutating func note(received total: ByteCount, at time: Timestamp) {
        move(to: time.seconds)
        // What came before anybody counted came in no second of these.
        if let received, let newest, total > received { bytes[Self.place(newest)] += total - received }
        received = total
    }

    /// The bytes of each second, the oldest first and the one that is not over last.
    var seconds: [ByteCount] {
        guard let newest else { return bytes }
        return (0..<Self.length).map { bytes[Self.place(newest &- Int64(clamping: Self.length - 1 - $0))] }
    }

    /// Bytes a second just now: those of the second that is not over, and of the one before it.
    func speed(at time: Timestamp) -> Double {
        guard let newest, newest == time.seconds else { return 0 }
        let recent = bytes[Self.place(newest)] + bytes[Self.place(newest - 1)]
        return Double(recent) / (1 + Double(time.millisecondsPart) / 1000)
    }

    /// Forgets the seconds between, in which nothing came. A clock that was set anew begins with nothing; one that was set
    /// back by a little stands still until it is there again.
    private mutating func move(to second: Int64) {
        guard let newest else { return self.newest = second }
        guard (second &- newest).magnitude < Self.length else {
            bytes = [ByteCount](repeating: 0, count: Self.length)
            return self.newest = second
        }
        guard second > newest else { return }
        for passed in newest + 1...second { bytes[Self.place(passed)] = 0 }
        self.newest = second
    }

    private static func place(_ second: Int64) -> Int {
        Int(clamping: (second % Int64(clamping: length) &+ Int64(clamping: length)) % Int64(clamping: length))
    }
}
