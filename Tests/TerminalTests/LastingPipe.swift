import Glibc

/// A pipe for event sources, whose ends are never closed.
///
/// libdispatch releases a descriptor some time after its source was cancelled. If the descriptor has been closed and its
/// number reused by then, events are lost. So these pipes use numbers that nothing else gets, and stay open.
struct LastingPipe {
    let read: Int32
    let write: Int32

    init() {
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        // Other descriptors get the lowest free number.
        let lasting = ends.map { fcntl($0, F_DUPFD_CLOEXEC, 500) }
        for end in ends { close(end) }
        for end in lasting { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        (read, write) = (lasting[0], lasting[1])
    }
}
