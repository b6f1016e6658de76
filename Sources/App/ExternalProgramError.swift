/// Why a photo could not be given to another program.
enum ExternalProgramError: Error, Equatable, CustomStringConvertible {
    /// The program cannot be started; the system's reason.
    case notStarted(String, reason: String)
    /// Nobody has named a program, and there is no desktop that would know one.
    case noDisplay
    /// The desktop has no program for it, or that failed.
    case unopened(code: Int32)
    /// There is no room for a copy; the system's reason.
    case noFolder(String, reason: String)
    /// The gallery does not have the photo any more.
    case gone

    /// A sentence for the user.
    var description: String {
        switch self {
        case .notStarted(let program, let reason): "“\(program)” cannot be started: \(reason)."
        case .noDisplay: "There is no display to open it on; the setting open-with names a program."
        case .unopened(let code): "xdg-open could not open it (\(code)); the setting open-with names a program."
        case .noFolder(let path, let reason): "\(path): \(reason)."
        case .gone: "The gallery does not have it any more."
        }
    }
}
