import CConcurrency
import Glibc

/// The file descriptors that the program may have.
///
///     ProgramDescriptors.raiseLimit()
///     try ProgramDescriptors.require(48)
///
/// Dispatch ends the program when it gets no descriptor for its own timers and queues. So what cannot fail softly is preceded
/// by a look at how many descriptors there are.
public enum ProgramDescriptors {
    /// The soft limit is not raised beyond this. Programs that Vitrine starts inherit it, and some close every descriptor that
    /// they could have.
    private static let greatest: rlim_t = 1 << 16

    /// Raises the soft limit as far as the system lets us.
    public static func raiseLimit() {
        var limits = limits
        let wanted = min(limits.rlim_max, greatest)
        guard limits.rlim_cur < wanted else { return }
        limits.rlim_cur = wanted
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
    }

    /// How many descriptors there may be, open ones included.
    public static var limit: Int { Int(clamping: limits.rlim_cur) }

    /// Throws unless so many descriptors can be opened now. Other threads may take them a moment later.
    public static func require(_ count: Int) throws(DescriptorShortage) {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        while opened.count < count {
            let descriptor =
                opened.first.map { fcntl($0, F_DUPFD_CLOEXEC, 0) } ?? open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 else {
                throw DescriptorShortage(needed: count, free: opened.count, isOfMachine: errno == ENFILE)
            }
            opened.append(descriptor)
        }
    }

    private static var limits: rlimit {
        var limits = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else {
            return rlimit(rlim_cur: 1_024, rlim_max: 1_024)
        }
        return limits
    }
}

/// There are too few file descriptors for what the program is to do.
public struct DescriptorShortage: Error, Equatable, CustomStringConvertible {
    let needed: Int
    let free: Int
    /// Whether the whole machine has none left, and not this process alone.
    let isOfMachine: Bool

    /// A sentence for the user.
    public var description: String {
        isOfMachine
            ? "The machine has too few file descriptors left: end other programs, or raise fs.file-max."
            : "Vitrine has too few file descriptors: it needs \(needed) free ones and has \(free). Raise the "
                + "limit, for example with “ulimit -n 256”."
    }
}

/// How the program keeps its memory.
public enum ProgramMemory {
    /// Has memory go back to the system when it is let go in large pieces.
    ///
    /// "Nowadays, glibc uses a dynamic mmap threshold by default": once a large piece has been let go, all that are smaller
    /// are kept, by each thread for itself, and twice as much of what is free at the end. A gallery's list goes from thread
    /// to thread in large pieces, and left that memory in shreds: the longer the list, the more of it. To name a threshold
    /// is to have it stay. Call it once, at the program's beginning.
    public static func returnLargePieces() {
        cconcurrency_map_from(1 << 20)
    }
}
