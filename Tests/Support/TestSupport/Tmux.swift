import Foundation

/// A program in tmux, a real terminal.
///
/// A second client, in control mode, reports when the program writes something. So the tests need no polling.
public final class Tmux {
    private let socket = "vitrine-\(UUID().uuidString.prefix(8))"
    private let control: ChildProcess
    /// The output of the control client.
    private let news: Int32
    /// The input of the control client. It stays empty, but the client runs as long as it is open.
    private let commands: Int32

    /// Starts a program in a window.
    public init(_ command: [String], columns: Int = 80, rows: Int = 24, environment: [String: String]) throws {
        let words = command.map { "'\($0)'" }.joined(separator: " ")
        let variables = environment.map { "'\($0.key)=\($0.value)'" }.joined(separator: " ")
        _ = try Self.tmux(
            socket, "-f", "/dev/null", "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)",
            "env -i \(variables) TERM=tmux-256color \(words); printf 'ended with %d' $?; exec cat")
        _ = try Self.tmux(socket, "set-option", "-g", "status", "off")
        let (input, output) = (try ChildProcess.makePipe(), try ChildProcess.makePipe())
        defer {
            close(input.reading)
            close(output.writing)
        }
        control = try ChildProcess(
            "/usr/bin/tmux", ["-L", socket, "-C", "attach-session", "-f", "ignore-size"], input: input.reading,
            output: output.writing)
        (news, commands) = (output.reading, input.writing)
    }

    deinit {
        // The client may be blocked on output that is not read any more.
        control.end(SIGKILL)
        _ = try? tmux("kill-server")
        close(news)
        close(commands)
    }

    /// Types keys, by tmux's names for them, or as they are.
    public func type(_ keys: String...) throws {
        _ = try Command("/usr/bin/tmux", ["-L", socket, "send-keys"] + keys)
    }

    /// Returns the visible text, one line per row.
    public func text() throws -> String {
        try tmux("capture-pane", "-p").text
    }

    /// Returns the visible text with its colour sequences and trailing blanks, which may have colours.
    public func colouredText() throws -> String {
        try tmux("capture-pane", "-p", "-e", "-N").text
    }

    /// Waits until the visible text meets a condition. Returns the text then, or at the end of the time.
    @discardableResult
    public func until(seconds: Double = 60, _ condition: (String) -> Bool) throws -> String {
        let deadline = Date(timeIntervalSinceNow: seconds)
        while true {
            let text = try text()
            let left = deadline.timeIntervalSinceNow
            if condition(text) || left <= 0 { return text }
            var entry = pollfd(fd: news, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, Int32(left * 1000)) > 0 else { continue }
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            _ = buffer.withUnsafeMutableBytes { read(news, $0.baseAddress, $0.count) }
        }
    }

    /// Waits until a text is visible.
    @discardableResult
    public func until(seconds: Double = 60, shows text: String) throws -> String {
        try until(seconds: seconds) { $0.contains(text) }
    }

    /// Lets programs set the clipboard, which is off in tmux by default.
    public func allowClipboard() throws {
        _ = try tmux("set-option", "-s", "set-clipboard", "on")
    }

    /// Returns the clipboard's text.
    public func clipboard() throws -> String {
        try tmux("show-buffer").text
    }

    private func tmux(_ arguments: String...) throws -> Command {
        try Command("/usr/bin/tmux", ["-L", socket, "-u"] + arguments)
    }

    private static func tmux(_ socket: String, _ arguments: String...) throws -> Command {
        try Command("/usr/bin/tmux", ["-L", socket, "-u"] + arguments)
    }
}
