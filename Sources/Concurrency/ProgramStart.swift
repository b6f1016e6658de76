import CConcurrency
import Dispatch
import Glibc

/// The limit of the program's file descriptors, and a check for free descriptors.
///
///     ProgramDescriptors.raiseLimit()
///     try ProgramDescriptors.require(48)
///
/// Dispatch ends the program if it gets no descriptor for its timers and queues. Call `require` before work that cannot
/// report such a failure.
public enum ProgramDescriptors {
    /// The highest soft limit to set. Child processes inherit the limit, and some close all possible descriptors one by
    /// one, which takes long under a high limit.
    private static let greatest: rlim_t = 1 << 16

    /// Raises the soft limit on file descriptors as far as the system allows.
    public static func raiseLimit() {
        var limits = limits
        let wanted = min(limits.rlim_max, greatest)
        guard limits.rlim_cur < wanted else { return }
        limits.rlim_cur = wanted
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
    }

    /// The number of file descriptors that may be open at once.
    public static var limit: Int { Int(clamping: limits.rlim_cur) }

    /// Throws an error unless the program can open this many descriptors now. Other threads may use these descriptors a
    /// moment later.
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

/// An error for too few free file descriptors.
public struct DescriptorShortage: Error, Equatable, CustomStringConvertible {
    let needed: Int
    let free: Int
    /// Whether the whole machine lacks descriptors, not just this process.
    let isOfMachine: Bool

    /// An error message for the user.
    public var description: String {
        isOfMachine
            ? "The machine has too few file descriptors left. End other programs, or raise fs.file-max."
            : "Vitrine has too few file descriptors: it needs \(needed) free ones and has \(free). Raise the limit, "
                + "for example with “ulimit -n 256”."
    }
}

/// The queue of the main actor.
public enum MainQueue {
    /// Moves the queue from the main thread to Dispatch's threads. Call this as the first suspension of `main`, which
    /// Swift runs on the main thread, and before other threads use the main actor.
    ///
    /// At first, Dispatch announces work for the queue by a write of eight bytes to an eventfd. When the main thread
    /// leaves the queue, Dispatch closes that descriptor. Another thread that was about to write then writes to the
    /// next file with the same number, such as the terminal or a database. Here the main thread itself announces the
    /// work, and afterwards Dispatch uses no such descriptor.
    @MainActor public static func leaveMainThread() async {
        // `Task.yield()` would announce the work from another thread.
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
    }
}

/// Settings of the program's memory allocator.
public enum ProgramMemory {
    /// Makes the allocator return large freed blocks to the system.
    ///
    /// "Nowadays, glibc uses a dynamic mmap threshold by default". After the program frees its first large block, each
    /// thread keeps smaller blocks, and up to twice as much free memory at the end of its heap. A gallery's list moves
    /// between threads in large blocks, so memory fragments as the list grows. An explicit threshold stays fixed. Call
    /// this method once at the start of the program.
    public static func returnLargePieces() {
        cconcurrency_map_from(1 << 20)
    }
}

/// The program's capabilities, which are parts of root's rights.
///
///     let capabilities = ProgramCapabilities.drop()       // the first line of the program
public enum ProgramCapabilities: Sendable {
    /// The program had no capabilities.
    case none
    /// The program has given up its capabilities.
    case dropped
    /// The system did not let the program give up its capabilities.
    case kept

    /// Gives up the capabilities of this program and of programs that it starts. Call this before the program starts a
    /// thread.
    ///
    /// One capability stays: root may still open all files, because folders in containers often belong to other users.
    /// Without the other capabilities, a flaw in Vitrine cannot load modules of the kernel, mount disks, change the
    /// network, or enter other processes.
    public static func drop() -> ProgramCapabilities {
        switch cconcurrency_drop_capabilities() {
        case 0: .none
        case 1: .dropped
        default: .kept
        }
    }

    /// A sentence for the user; nil if the program had no capabilities.
    public var notice: String? {
        switch self {
        case .none: nil
        case .dropped: "Vitrine gave up its capabilities, except the one to open all files (CAP_DAC_OVERRIDE)."
        case .kept: "Vitrine keeps its capabilities, because the system does not let Vitrine give them up."
        }
    }
}
