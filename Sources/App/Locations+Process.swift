import Glibc
import Settings

extension Locations {
    /// Where this process's user has his files.
    init() {
        self.init(fallback: Self.listed ?? "/") { name in getenv(name).map { String(cString: $0) } }
    }

    /// His home folder as the system's list of users has it, which may lie on another machine.
    private static var listed: String? {
        getpwuid(getuid()).flatMap { $0.pointee.pw_dir }.map { String(cString: $0) }
    }
}
