import Foundation

/// Private file systems of a program, for example small or read-only ones. They end with it.
public enum Mounting {
    /// The options to start a program that may mount privately: as root, or in a user namespace.
    private static let prefix: [String]? = [["-m"], ["-r", "-m"]].first { words in
        let probe = try? Command(
            "/usr/bin/unshare",
            words + ["/bin/sh", "-c", "mount -t tmpfs -o size=64k none /tmp && mount -o remount,ro /tmp"])
        return probe?.status == 0
    }

    /// Whether this machine allows private mounts.
    public static var isPossible: Bool { prefix != nil }

    /// The program that runs a shell script with the right to mount.
    public static let program = "/usr/bin/unshare"

    /// Returns the program's arguments. The script gets `arguments` as `$0`, `$1`, and so on.
    public static func arguments(_ script: String, _ arguments: String...) -> [String] {
        (prefix ?? []) + ["/bin/sh", "-c", script] + arguments
    }
}
