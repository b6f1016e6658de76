/// What the program tells whoever started it. A contract: scripts rely on it.
enum ExitCode: Int32 {
    case done = 0
    case someFailed = 1
    case usage = 2
    case notATerminal = 3
    case locked = 4
}
