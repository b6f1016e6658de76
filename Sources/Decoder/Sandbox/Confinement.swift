import CSandbox

/// Takes from this process what decoding does not need. Of the picture nothing has been looked at by then but its first bytes,
/// by which it is known what has to be loaded for it. Everything here can only be tightened afterwards, never loosened.
///
///     guard let walls = Confinement(longestAnswer: 1 << 20).apply() else { exit(1) }
///
/// The order matters: what the parent left open by accident goes first (libraries open sockets that stay open on exec), then
/// privileges, without which the kernel lets nobody build a wall; then Landlock, whose rules need a descriptor; then limits,
/// which leave none; and system calls last, since all of the above are such.
///
/// What is left to a decoder that was taken over: the picture it was given, memory and time within bounds, and an answer that
/// the parent does not trust.
public struct Confinement {
    /// The most bytes this process may write to a file: the longest answer to its request.
    private let longestAnswer: Int
    private let isWalled: (landlock: Bool, seccomp: Bool)

    private static let cpuSeconds = 10
    /// A file of 512 MiB and the largest progressive picture, 100 million pixels in 4:2:0, fit side by side.
    private static let addressSpace = 1 << 30

    /// Confinement for a process that writes no more than so many bytes.
    public init(longestAnswer: Int) {
        self.longestAnswer = longestAnswer
        isWalled = (true, true)
    }

    /// The same with some of the walls: tests take one away, to see what the other holds.
    package init(longestAnswer: Int, restrictions: Set<Restriction>) {
        self.longestAnswer = longestAnswer
        isWalled = (restrictions.contains(.landlock), restrictions.contains(.seccomp))
    }

    /// Confines this process, which has one thread. Returns the walls that stand; nil if the limits could not be set, and then
    /// nothing is to be decoded.
    public func apply() -> StandingRestrictions? {
        csandbox_die_with_parent() == 0 ? applyBeyondParent() : nil
    }

    /// Confines this process in the same way, but for one thing: it may outlive the thread that started it, since others may still
    /// need it then. It has to end by itself when nobody has the other end of its socket any more.
    public func applyBeyondParent() -> StandingRestrictions? {
        guard csandbox_close_all_but_three() == 0, forbidPrivileges() else { return nil }
        let landlock = buildLandlock()
        guard limitResources() else { return nil }
        return StandingRestrictions(landlock: landlock, seccomp: isWalled.seccomp && csandbox_build_seccomp() == 0)
    }

    /// Confines this process, which has one thread, and is to make others that confine themselves with `apply`: it may do that
    /// and pass packets, and all else is taken from it as from them.
    ///
    /// It does not ask to be killed with its parent either: see `applyBeyondParent`.
    public static func applyToServer() -> StandingRestrictions? {
        // Its processes could not look up what is open, behind its walls: they close all at once, or there is no server.
        guard csandbox_close_at_once_but_three() == 0, csandbox_forbid_new_privileges() == 0,
            csandbox_forbid_inspection() == 0, csandbox_limit(csandbox_core, 0) == 0
        else { return nil }
        let landlock = Confinement(longestAnswer: 0).buildLandlock()
        return StandingRestrictions(landlock: landlock, seccomp: csandbox_build_serving_seccomp() == 0)
    }

    /// Closes what this process has open but for standard input, output and error: in a copy of the server, connections of those who
    /// wait for other pictures. Returns whether that was possible, which it is wherever there is a server.
    public static func closeAllButThree() -> Bool { csandbox_close_at_once_but_three() == 0 }

    /// Whether this process can have about as much memory as it is allowed. Asked when some was refused and what there was is
    /// free again: if it can, it was refused for the limit, and if it cannot, the machine is short of it, or whoever started
    /// the process allows it less.
    public static func isMemoryThere() -> Bool {
        // The rest is for the program and its libraries.
        csandbox_can_have_memory(UInt(addressSpace / 4 * 3)) == 1
    }

    private func forbidPrivileges() -> Bool {
        csandbox_forbid_new_privileges() == 0 && csandbox_forbid_inspection() == 0
    }

    private func buildLandlock() -> Int? {
        let version = csandbox_landlock_version()
        guard isWalled.landlock, version > 0, csandbox_build_landlock(version) == 0 else { return nil }
        return Int(version)
    }

    private func limitResources() -> Bool {
        limit(csandbox_cpu_seconds, Self.cpuSeconds)
            && limit(csandbox_address_space, Self.addressSpace)
            && limit(csandbox_file_size, longestAnswer)
            // Those it has: the picture, the answer and standard error.
            && limit(csandbox_open_files, 3)
            && limit(csandbox_processes, 0)
            && limit(csandbox_core, 0)
    }

    private func limit(_ resource: CInt, _ most: Int) -> Bool {
        csandbox_limit(resource, UInt(most)) == 0
    }
}

/// Which walls stand around this process.
///
/// A kernel may lack them: Landlock came with Linux 5.13 and is not switched on everywhere, and containers may forbid to build
/// either. Pictures are decoded all the same, held by the walls that there are and by the limits; the user can ask which.
public struct StandingRestrictions: Equatable, Sendable {
    /// The version of Landlock's interface; nil where that wall is missing.
    public let landlock: Int?
    /// Whether system calls are filtered.
    public let seccomp: Bool

    /// Each wall in a word or two, missing ones too.
    public var names: [String] {
        [landlock.map { "Landlock \($0)" } ?? "no Landlock", seccomp ? "seccomp" : "no seccomp"]
    }
}

/// What the kernel itself puts between a confined process and everything else, where it can.
///
/// Each would do alone for most of what a decoder that was taken over might try. They are made of different parts of the
/// kernel, so a mistake in one does not open the other.
public enum Restriction: Hashable, Sendable, CaseIterable {
    /// Nothing that has a name can be opened, executed, made or removed; no TCP connection, and from version 6 on no abstract
    /// socket and no signal to processes outside.
    case landlock
    /// System calls that decoding does not need end the process, or are refused.
    case seccomp
}
