import Glibc

/// A time to wait for something in, however often that is.
struct Deadline {
    private let deadline: Int64
    /// Whoever always has something to say does not get more time for it.
    private var isOver = false

    init(milliseconds: Int32) {
        deadline = Self.now + Int64(milliseconds)
    }

    /// Waits for something on a descriptor. Returns what there is; nil if the time ran out first.
    mutating func poll(_ descriptor: Int32) -> Int32? {
        guard !isOver else { return nil }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let count = Glibc.poll(&entry, 1, Int32(clamping: max(0, deadline - Self.now)))
            isOver = Self.now >= deadline
            if count == 0 { return nil }
            if count > 0 { return Int32(entry.revents) }
        }
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
