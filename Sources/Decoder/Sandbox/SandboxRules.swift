import CSandbox

/// Restricts this process to the rights that decoding needs.
///
/// Before this point, the process has read only the picture's first bytes, to load the libraries it needs. Later calls
/// can only tighten the restrictions, never loosen them.
///
///     guard let restrictions = SandboxRules(longestAnswer: 1 << 20).apply() else { exit(1) }
///
/// The order matters. Descriptors that the parent left open come first, because libraries open sockets that stay open
/// on exec. Then privileges are dropped, without which the kernel permits no further restriction. Landlock follows,
/// because its rules need a descriptor; then limits, which leave no descriptor free; and last system calls, because
/// all steps before use them.
///
/// A compromised decoder keeps its picture, bounded memory and time, and an answer that the parent does not trust.
public struct SandboxRules {
    /// The most bytes that this process may write to a file, as many as its longest answer has.
    private let longestAnswer: Int
    /// The most seconds of processor time.
    private let cpuSeconds: Int
    private let uses: (landlock: Bool, seccomp: Bool)

    private static let cpuSecondsForPicture = 10
    /// More than any film needs. The limit ends a decoder that a hostile video controls.
    private static let cpuSecondsForVideo = 4 * 3_600
    /// The most memory in bytes. This is enough for a file of 512 MiB and the largest progressive picture, 100 million
    /// pixels in 4:2:0.
    private static let addressSpace = 1 << 30

    /// Creates the rules for a process with a size limit for its answer.
    ///
    /// - Parameter plays: whether the process plays a video, for which it may take hours.
    public init(longestAnswer: Int, plays: Bool = false) {
        self.longestAnswer = longestAnswer
        cpuSeconds = plays ? Self.cpuSecondsForVideo : Self.cpuSecondsForPicture
        uses = (true, true)
    }

    /// Creates rules with only some of the kernel restrictions. Tests use this initialiser to check each restriction
    /// alone.
    package init(longestAnswer: Int, restrictions: Set<Restriction>) {
        self.longestAnswer = longestAnswer
        cpuSeconds = Self.cpuSecondsForPicture
        uses = (restrictions.contains(.landlock), restrictions.contains(.seccomp))
    }

    /// Restricts this process, which must have one thread. Returns the active restrictions. Returns nil if a limit
    /// could not be set; then the process must not decode.
    public func apply() -> StandingRestrictions? {
        csandbox_die_with_parent() == 0 ? applyBeyondParent() : nil
    }

    /// Restricts this process like `apply`, but lets it outlive the thread that started it. Other threads may still use
    /// the process. The process must exit when its socket is closed.
    public func applyBeyondParent() -> StandingRestrictions? {
        guard csandbox_close_all_but_three() == 0, forbidPrivileges() else { return nil }
        let landlock = buildLandlock()
        guard limitResources() else { return nil }
        return StandingRestrictions(landlock: landlock, seccomp: uses.seccomp && csandbox_build_seccomp() == 0)
    }

    /// Restricts a server process, which must have one thread. The server may still transfer packets, and fork
    /// processes that restrict themselves with `apply`.
    ///
    /// The server outlives the thread that started it, as after `applyBeyondParent`.
    public static func applyToServer() -> StandingRestrictions? {
        // Its forked processes cannot list open descriptors inside the sandbox. So they must be able to close all at
        // once, or there is no server.
        guard csandbox_close_at_once_but_three() == 0, csandbox_forbid_new_privileges() == 0,
            csandbox_forbid_inspection() == 0, csandbox_limit(csandbox_core, 0) == 0
        else { return nil }
        let landlock = SandboxRules(longestAnswer: 0).buildLandlock()
        return StandingRestrictions(landlock: landlock, seccomp: csandbox_build_serving_seccomp() == 0)
    }

    /// Closes all descriptors except standard input, output and error. In a server's fork, the other descriptors are
    /// connections of other clients. Returns false if the kernel does not support this; then no server can run.
    public static func closeAllButThree() -> Bool { csandbox_close_at_once_but_three() == 0 }

    /// Whether this process can allocate three quarters of its memory limit. Call this function after an allocation
    /// failed and all memory is free again. True means that the process had reached its limit; false means that the
    /// system is short of memory or the parent allows less.
    public static func isMemoryThere() -> Bool {
        // The rest is for the program and its libraries.
        csandbox_can_have_memory(UInt(addressSpace / 4 * 3)) == 1
    }

    private func forbidPrivileges() -> Bool {
        csandbox_forbid_new_privileges() == 0 && csandbox_forbid_inspection() == 0
    }

    private func buildLandlock() -> Int? {
        let version = csandbox_landlock_version()
        guard uses.landlock, version > 0, csandbox_build_landlock(version) == 0 else { return nil }
        return Int(version)
    }

    private func limitResources() -> Bool {
        limit(csandbox_cpu_seconds, cpuSeconds)
            && limit(csandbox_address_space, Self.addressSpace)
            && limit(csandbox_file_size, longestAnswer)
            // The ones already open: the picture, the answer and standard error.
            && limit(csandbox_open_files, 3)
            && limit(csandbox_processes, 0)
            && limit(csandbox_core, 0)
    }

    private func limit(_ resource: CInt, _ most: Int) -> Bool {
        csandbox_limit(resource, UInt(most)) == 0
    }
}

/// The kernel restrictions that are active in this process.
///
/// Kernels may lack them: Landlock came with Linux 5.13 and is not enabled everywhere, and containers may forbid both.
/// Vitrine still decodes pictures with the remaining restrictions and limits; users can look them up.
public struct StandingRestrictions: Equatable, Sendable {
    /// The version of Landlock's interface; nil without Landlock.
    public let landlock: Int?
    /// Whether seccomp filters this process's system calls.
    public let seccomp: Bool

    /// A readable name for each restriction, including missing ones.
    public var names: [String] {
        [landlock.map { "Landlock \($0)" } ?? "no Landlock", seccomp ? "seccomp" : "no seccomp"]
    }
}

/// A kernel restriction of the decoder.
///
/// Each one alone stops most attacks by a compromised decoder. They use different parts of the kernel, so a bug in
/// one does not disable the other.
public enum Restriction: Hashable, Sendable, CaseIterable {
    /// Landlock: forbids opening, executing, creating or removing files by path, and TCP connections. Since version 6
    /// of its interface, Landlock also forbids abstract sockets and signals to processes outside.
    case landlock
    /// Seccomp: refuses system calls that decoding does not need, or kills the process for them.
    case seccomp
}
