import Glibc

/// Whether files can be written in a folder.
public enum Writability {
    /// Why files cannot be written in a folder; nil if they can, or if the folder is missing and can be made. Nothing is made.
    public static func obstacle(in path: String) -> SystemError? {
        var place = path
        while !place.isEmpty {
            if access(place, F_OK) == 0 { break }
            guard errno == ENOENT else { return SystemError() }
            place = String(place[..<(place.lastIndex(of: "/") ?? place.startIndex)])
        }
        if place.isEmpty { place = "/" }
        var status = stat()
        guard stat(place, &status) == 0 else { return SystemError() }
        guard status.st_mode & S_IFMT == S_IFDIR else { return SystemError(ENOTDIR) }
        return access(place, W_OK | X_OK) == 0 ? nil : SystemError()
    }
}
