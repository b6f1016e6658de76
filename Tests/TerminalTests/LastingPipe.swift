import Glibc

/// A pipe for event sources, whose ends are never closed.
///
/// libdispatch lets go of a descriptor some time after its source was cancelled. One that is closed by then, and whose number
/// somebody else has got, is never heard of: so these have numbers that nobody else gets, and keep them.
struct LastingPipe {
    let read: Int32
    let write: Int32

    init() {
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        // Above what all others are given, who get the lowest that is free.
        let lasting = ends.map { fcntl($0, F_DUPFD_CLOEXEC, 500) }
        for end in ends { close(end) }
        for end in lasting { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        (read, write) = (lasting[0], lasting[1])
    }
}
