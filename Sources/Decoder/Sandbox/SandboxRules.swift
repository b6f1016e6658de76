import CSandbox

/// Restricts this process to the rights that decoding needs.
///
/// Before the call of `apply`, the process reads only the picture's first bytes, and loads the libraries that the
/// picture needs. Later calls can only tighten the restrictions, never loosen them.
///
///     guard let restrictions = SandboxRules(longestAnswer: 1 << 20).apply() else { exit(1) }
///
/// The order of the steps matters. First, `apply` closes descriptors that the parent process left open, because
/// libraries open sockets that stay open on exec. Then it forbids new privileges; otherwise the kernel permits no
/// further restriction. Landlock follows before the resource limits, because its rules need a descriptor, and the
/// limits leave no descriptor free. The filter of system calls is last, because all earlier steps make such calls.
///
/// A compromised decoder can still read its picture, use limited memory and time, and write an answer. The parent
/// process does not trust the answer.
public struct SandboxRules {
    /// The maximum length of a file that this process writes: the length of its longest answer.
    private let longestAnswer: Int
    /// The maximum number of seconds of processor time.
    private let cpuSeconds: Int
    private let uses: (landlock: Bool, seccomp: Bool)

    private static let cpuSecondsForPicture = 10
    /// The maximum number of seconds of processor time for a video. No film needs as many seconds. The limit ends a
    /// decoder that a hostile video controls.
    private static let cpuSecondsForVideo = 4 * 3_600
    /// The maximum memory in bytes. This is enough for a file of 512 MiB and the largest progressive picture, 100
    /// million pixels in 4:2:0.
    private static let addressSpace = 1 << 30

    /// Creates the rules for a process whose answer has at most `longestAnswer` bytes.
    ///
    /// - Parameter plays: whether the process plays a video. Then it may use hours of processor time.
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

    /// Restricts this process, which must have one thread. Returns the active restrictions. Returns nil if a step other
    /// than Landlock and seccomp failed; then the process must not decode.
    public func apply() -> StandingRestrictions? {
        csandbox_die_with_parent() == 0 ? applyBeyondParent() : nil
    }

    /// Restricts this process like `apply`, but the process may outlive the thread that started it. Other threads of
    /// the parent process may still use it. So it must exit by itself when its socket is closed.
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
        // Inside the sandbox, the server's forked processes cannot list their open descriptors. So they need the system
        // call that closes all descriptors at once. Without that call, no server can run.
        guard csandbox_close_at_once_but_three() == 0, csandbox_forbid_new_privileges() == 0,
            csandbox_forbid_inspection() == 0, csandbox_limit(csandbox_core, 0) == 0
        else { return nil }
        let landlock = SandboxRules(longestAnswer: 0).buildLandlock()
        return StandingRestrictions(landlock: landlock, seccomp: csandbox_build_serving_seccomp() == 0)
    }

    /// Closes all descriptors except standard input, output and error. In a server's fork, the other descriptors are
    /// connections of other clients. Returns false if the kernel lacks the system call for this; then no server can
    /// run.
    public static func closeAllButThree() -> Bool { csandbox_close_at_once_but_three() == 0 }

    /// Whether this process can allocate three quarters of its memory limit. Call this function after an allocation
    /// failed and all memory is free again. True means that the process had reached its limit; false means that the
    /// system is short of memory or the parent allows less.
    public static func isMemoryThere() -> Bool {
        // The program and its libraries use the other quarter.
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
            // Three files are already open: the picture, the answer and standard error.
            && limit(csandbox_open_files, 3)
            && limit(csandbox_processes, 0)
            && limit(csandbox_core, 0)
    }

    private func limit(_ resource: CInt, _ most: Int) -> Bool {
        csandbox_limit(resource, UInt(most)) == 0
    }
}

/// Restricts this process to the rights that fetching needs.
///
/// The process may read and change files in the writable folders. It may also read the readable places, and system
/// files that network libraries need. It may connect with TCP and UDP but not listen, and may make threads but not
/// processes. It may send signals only to itself.
///
///     guard FetcherRules.closeAllButThree(),
///         let restrictions = FetcherRules(writableFolders: [cache], readablePlaces: [netrc, photos]).apply()
///     else { exit(1) }
///     // … make threads, load libraries, fetch …
///
/// Read the command line before the call of `apply`, because Swift looks it up in `/proc`, which the process cannot
/// read afterwards. Set `$SQLITE_TMPDIR` to a writable folder, because SQLite's temporary files need one.
///
/// A rule belongs to the file or folder that has the path during the call of `apply`. If another file later replaces a
/// readable file, the process cannot read the new file. So pass the folder of a file that may be replaced. For a place
/// that the user adds later, start a new process.
///
/// A compromised process can still change the writable folders, read the readable places, and use the network. It can
/// learn names and sizes of other files. With `usesLocalServices`, it can connect to any service of the user whose
/// socket has a path. Services such as the session's D-Bus start programs on request.
public struct FetcherRules {
    private let writableFolders: [String]
    private let readablePlaces: [String]
    private let usesLocalServices: Bool
    private let uses: Set<Restriction>

    /// Creates the rules for a process.
    ///
    /// - Parameters:
    ///   - writableFolders: folders that must exist, whose contents the process may change.
    ///   - readablePlaces: other files and folders that the process may read. The rules ignore missing ones.
    ///   - usesLocalServices: whether the process may connect to services of this machine. Name lookups need nscd,
    ///     systemd-resolved or Avahi on some systems; without these services, the C library asks the name servers
    ///     itself.
    public init(writableFolders: [String], readablePlaces: [String] = [], usesLocalServices: Bool = true) {
        self.init(
            writableFolders: writableFolders, readablePlaces: readablePlaces, usesLocalServices: usesLocalServices,
            restrictions: Set(Restriction.allCases))
    }

    /// Creates rules with only some of the kernel restrictions. Tests use this initialiser to check each restriction
    /// alone.
    package init(
        writableFolders: [String], readablePlaces: [String], usesLocalServices: Bool = true,
        restrictions: Set<Restriction>
    ) {
        self.writableFolders = writableFolders
        self.readablePlaces = readablePlaces
        self.usesLocalServices = usesLocalServices
        uses = restrictions
    }

    /// Closes all descriptors except standard input, output and error. Returns false on failure.
    ///
    /// Call this before `apply`, because the parent's other threads may have left descriptors open, and `apply` does
    /// not restrict open descriptors.
    public static func closeAllButThree() -> Bool { csandbox_close_all_but_three() == 0 }

    /// Restricts this process, which must have one thread. Returns the active restrictions.
    ///
    /// Returns nil if the process has several threads, if a writable folder is missing, or if a step other than
    /// Landlock and seccomp failed. Then the process must not fetch.
    public func apply() -> StandingRestrictions? {
        // Landlock restricts the calling thread and the threads that it makes later.
        guard csandbox_has_one_thread() == 1, writableFolders.allSatisfy({ access($0, X_OK) == 0 }),
            csandbox_forbid_new_privileges() == 0, csandbox_forbid_inspection() == 0,
            // A core file would contain passwords.
            csandbox_limit(csandbox_core, 0) == 0
        else { return nil }
        let landlock = buildLandlock()
        let isFiltered = uses.contains(.seccomp) && csandbox_build_fetcher_seccomp(usesLocalServices ? 1 : 0) == 0
        return StandingRestrictions(landlock: landlock, seccomp: isFiltered)
    }

    private func buildLandlock() -> Int? {
        let version = csandbox_landlock_version()
        // The cache must rename files between folders, but version 1 always forbids this.
        guard uses.contains(.landlock), version >= 2 else { return nil }
        let rules = csandbox_begin_fetcher_landlock(version)
        guard rules >= 0 else { return nil }
        func permit(_ places: [String], _ rights: UInt64) {
            // Places that this system lacks need no rule.
            for place in places { csandbox_permit(rules, version, place, rights) }
        }
        permit(writableFolders, csandbox_keeping)
        permit(readablePlaces + Self.systemPlaces + Self.resolverFolder(), csandbox_reading)
        permit(["/dev/null"], csandbox_using_file)
        return csandbox_enforce_landlock(rules) == 0 ? Int(version) : nil
    }

    /// Files and folders of the system that curl, OpenSSL, the C library and their plug-ins read.
    private static let systemPlaces = [
        // Libraries, and where the linker finds them.
        "/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/local/lib", "/usr/local/lib64", "/nix/store", "/gnu/store",
        "/etc/ld.so.cache",
        // Certificates.
        "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/crypto-policies", "/usr/share/ca-certificates",
        "/usr/local/share/ca-certificates", "/usr/share/pki", "/usr/share/crypto-policies", "/var/lib/ca-certificates",
        // Names of hosts and services.
        "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services",
        "/etc/protocols", "/run/systemd/resolve", "/run/nscd", "/var/run/nscd",
        // Times and languages.
        "/etc/localtime", "/usr/share/zoneinfo", "/usr/share/locale", "/etc/locale.alias",
        // The machine: processors, memory and networks. Entries of /sys/class/net are links.
        "/proc/sys", "/proc/stat", "/proc/meminfo", "/proc/cpuinfo", "/sys/class/net", "/sys/devices/virtual/net",
        "/sys/devices/system/cpu", "/dev/urandom", "/dev/random",
    ]

    /// Returns a path without links. Returns nil if nothing is there.
    package static func realPath(of path: String) -> String? {
        guard let found = csandbox_real_path(path) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }

    /// Returns the folder of the file that names the DNS servers.
    ///
    /// Network managers replace this file when the network changes. A rule for the old file would not apply to the new
    /// file, so all later name lookups would fail. For root, returns no folder: the folder may be `/etc`, where root
    /// could read secrets.
    private static func resolverFolder() -> [String] {
        guard geteuid() != 0, let path = realPath(of: "/etc/resolv.conf") else { return [] }
        let parts = path.split(separator: "/").dropLast()
        return parts.isEmpty ? [] : ["/" + parts.joined(separator: "/")]
    }
}

/// Restricts a process that shows screens. The process can no longer open network sockets or access the memory of other
/// processes.
///
///     let launcher = try Launcher()       // before, for programs that need the network
///     let restrictions = ScreensRules().apply()
///
/// Programs that the process starts have the same restrictions: they cannot fetch, and gain no privileges by setuid.
/// Programs that a ``Launcher`` starts have no restrictions, if the launcher was made before.
///
/// These rules stop an attack that opens a network connection itself. They do not stop an attack that writes a file in
/// the user's home, or that asks the launcher or a service of the session to start a program.
public struct ScreensRules {
    /// Creates the rules.
    public init() {}

    /// Restricts all threads of this process. Returns the active restrictions.
    public func apply() -> StandingRestrictions {
        let isFiltered = csandbox_forbid_new_privileges() == 0 && csandbox_build_screens_seccomp() == 0
        return StandingRestrictions(seccomp: isFiltered)
    }
}

/// The kernel restrictions that are active in this process.
///
/// A restriction may be missing: Landlock came with Linux 5.13 and is not enabled everywhere, and containers may forbid
/// Landlock and seccomp. Vitrine then works with the remaining restrictions and limits, which users can look up.
public struct StandingRestrictions: Equatable, Sendable {
    /// The version of Landlock's interface; nil if Landlock is not active.
    public let landlock: Int?
    /// Whether seccomp filters this process's system calls.
    public let seccomp: Bool
    /// Whether the process's rules include Landlock.
    private let usesLandlock: Bool

    /// Creates the value for rules that use Landlock and seccomp.
    init(landlock: Int?, seccomp: Bool) {
        (self.landlock, self.seccomp, usesLandlock) = (landlock, seccomp, true)
    }

    /// Creates the value for rules that use only seccomp.
    init(seccomp: Bool) {
        (landlock, self.seccomp, usesLandlock) = (nil, seccomp, false)
    }

    /// Whether all restrictions of the process's rules are active.
    public var areComplete: Bool { seccomp && (!usesLandlock || landlock != nil) }

    /// A readable name for each restriction, such as `Landlock 7` or `no seccomp`.
    public var names: [String] {
        let landlock = usesLandlock ? [landlock.map { "Landlock \($0)" } ?? "no Landlock"] : []
        return landlock + [seccomp ? "seccomp" : "no seccomp"]
    }

    /// The names of the missing restrictions, such as `no Landlock`.
    public var missing: [String] { names.filter { $0.hasPrefix("no ") } }
}

/// A kernel restriction of the decoder and the fetcher.
///
/// Each restriction alone stops most attacks by a compromised process. The two use different parts of the kernel, so a
/// bug in one part does not disable the other restriction.
public enum Restriction: Hashable, Sendable, CaseIterable {
    /// Landlock: forbids TCP connections, and opening, executing, creating or removing files by path. The fetcher may
    /// still connect, and use some files. Since version 6 of its interface, Landlock also forbids signals and
    /// connections to abstract sockets, if the other process is outside the sandbox.
    case landlock
    /// Seccomp: refuses system calls that the process does not need. For most of these calls, the kernel kills the
    /// decoder.
    case seccomp
}
