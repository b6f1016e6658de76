import Foundation

/// File systems that a program has for itself, and that go with it: small ones, and such as cannot be written to.
public enum Mounting {
    /// How to start a program that may mount what it likes, unseen by others: as root, or in a namespace of a user's own.
    private static let prefix: [String]? = [["-m"], ["-r", "-m"]].first { words in
        let probe = try? Command(
            "/usr/bin/unshare",
            words + ["/bin/sh", "-c", "mount -t tmpfs -o size=64k none /tmp && mount -o remount,ro /tmp"])
        return probe?.status == 0
    }

    /// Whether it can be done here.
    public static var isPossible: Bool { prefix != nil }

    /// The program that runs a shell script which may mount.
    public static let program = "/usr/bin/unshare"

    /// Its arguments; the script finds `arguments` as `$0`, `$1`, and so on.
    public static func arguments(_ script: String, _ arguments: String...) -> [String] {
        (prefix ?? []) + ["/bin/sh", "-c", script] + arguments
    }
}
