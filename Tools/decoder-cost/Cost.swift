import Glibc

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
