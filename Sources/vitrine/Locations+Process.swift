import Glibc
import Settings

extension Locations {
    /// Where this process's user has his files.
    init() {
        let home = getpwuid(getuid()).flatMap { $0.pointee.pw_dir }.map { String(cString: $0) }
        self.init(fallback: home ?? "/") { name in getenv(name).map { String(cString: $0) } }
    }
}
