/// How much a line of the log matters. The user sets the least that is kept.
public enum LogLevel: Int, Comparable, Hashable, Sendable, CaseIterable {
    /// Something failed that the user may have to do something about.
    case error
    /// What happened, in the user's terms.
    case info
    /// What happened, in the program's terms.
    case debug

    /// As it is written on the command line.
    public var name: String {
        switch self {
        case .error: "error"
        case .info: "info"
        case .debug: "debug"
        }
    }

    /// What matters most comes first.
    public static func < (left: LogLevel, right: LogLevel) -> Bool {
        left.rawValue < right.rawValue
    }
}
