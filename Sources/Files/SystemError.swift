import Glibc

/// An operation on a file or folder that the system refused.
public struct SystemError: Error, Hashable, CustomStringConvertible {
    /// The system's number for it: `ENOENT`, `EACCES` and so on.
    public let code: Int32

    /// Takes a number; without one, that of the call that has just failed.
    public init(_ code: Int32 = errno) { self.code = code }

    /// The system's words: `No such file or directory`.
    public var description: String { String(cString: strerror(code)) }

    /// Whether a path, or a link on it, leaves the folder that it has to stay in.
    public var leavesFolder: Bool { code == EXDEV }
}
