import Glibc

/// By what a file is known to be the one it was: its size, and when it was modified.
///
/// Its number is not part of it: a folder that was copied with its times, to another disk or back from one, is the same
/// folder. Nor is what it holds: a thousand photos are four gigabytes, and reading them takes longer than making thumbnails
/// of them.
struct FileStamp: Hashable, Sendable {
    let size: Int64
    let seconds: Int64
    let nanoseconds: Int64

    init(size: Int64, seconds: Int64, nanoseconds: Int64) {
        (self.size, self.seconds, self.nanoseconds) = (size, seconds, nanoseconds)
    }

    init(_ status: stat) {
        self.init(
            size: Int64(status.st_size), seconds: Int64(status.st_mtim.tv_sec),
            nanoseconds: Int64(status.st_mtim.tv_nsec))
    }
}
