import CSandbox

/// Takes from this process what decoding does not need, before it looks at the first untrusted byte. Everything here can
/// only be tightened afterwards, never loosened.
///
/// The order matters: what the parent left open by accident goes first (libraries open sockets that stay open on exec), then
/// privileges, then limits. System calls and the files that can be named are not filtered yet: a decoder that was taken over
/// is held to its bounds of time and memory, and to three open files at once, but may open what its user may.
struct Confinement {
    /// The most bytes this process may write to a file: the longest answer to its request.
    let longestAnswer: Int

    private static let cpuSeconds = 10
    /// A file of 512 MiB and the largest progressive picture, 100 million pixels in 4:2:0, fit side by side.
    private static let addressSpace = 1 << 30

    /// Returns whether all of it worked; if not, nothing is to be decoded.
    func apply() -> Bool {
        csandbox_close_all_but_three() == 0 && forbidPrivileges() && limitResources()
    }

    private func forbidPrivileges() -> Bool {
        csandbox_forbid_new_privileges() == 0
            && csandbox_die_with_parent() == 0
            && csandbox_forbid_inspection() == 0
    }

    private func limitResources() -> Bool {
        let limits = [
            (csandbox_cpu_seconds, Self.cpuSeconds),
            (csandbox_address_space, Self.addressSpace),
            (csandbox_file_size, longestAnswer),
            // Those it has: the picture, the answer and standard error.
            (csandbox_open_files, 3),
            (csandbox_processes, 0),
            (csandbox_core, 0),
        ]
        return limits.allSatisfy { csandbox_limit($0.0, UInt($0.1)) == 0 }
    }
}
