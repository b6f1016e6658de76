import Foundation

/// A program in an xterm that takes sixels, on a display of its own: what a user sees, pixel by pixel.
public final class Xterm {
    private let server: ChildProcess
    private let terminal: ChildProcess
    private let display: String

    /// Starts a program in a window of that size.
    public init(_ command: [String], columns: Int = 100, rows: Int = 40, environment: [String: String]) throws {
        let pipe = try ChildProcess.makePipe()
        // It finds a display that is free, and says which when it is there. It would begin anew, and end its clients, when a
        // client leaves that is the only one: who takes a picture of the screen before the terminal has come.
        server = try ChildProcess(
            "/usr/bin/Xvfb", ["-displayfd", "1", "-screen", "0", "1000x800x24", "-nolisten", "tcp", "-noreset"],
            output: pipe.writing)
        close(pipe.writing)
        defer { close(pipe.reading) }
        // All of the line: it writes the number and the line's end by themselves, and ends if it cannot.
        var (number, byte) = ("", UInt8(0))
        while read(pipe.reading, &byte, 1) == 1, byte != UInt8(ascii: "\n") {
            number.unicodeScalars.append(UnicodeScalar(byte))
        }
        display = ":" + number
        var variables = environment
        variables["DISPLAY"] = display
        let resources = ["decTerminalID: vt340", "numColorRegisters: 256", "cursorBlink: false"]
        terminal = try ChildProcess(
            "/usr/bin/xterm",
            ["-ti", "vt340", "-fa", "DejaVu Sans Mono", "-fs", "10", "-geometry", "\(columns)x\(rows)+0+0"]
                + resources.flatMap { ["-xrm", "XTerm*\($0)"] }
                + ["-e"] + command,
            environment: variables)
    }

    deinit {
        terminal.end()
        server.end()
    }

    /// Presses keys, by X's names for them.
    public func press(_ keys: [String]) throws {
        // Without anybody to manage windows, they go to where the mouse is.
        _ = try Command(
            "/usr/bin/xdotool", ["mousemove", "200", "200", "key", "--delay", "4"] + keys,
            environment: ["DISPLAY": display])
    }

    /// What is seen: red, green and blue of each pixel.
    public func pixels() throws -> [UInt8] {
        try Command(
            "/usr/bin/import", ["-window", "root", "-depth", "8", "rgb:-"], environment: ["DISPLAY": display]
        ).output
    }

    /// What is seen when it has been the same for a while, and meets a condition; or at last.
    public func still(where condition: ([UInt8]) -> Bool = { _ in true }) throws -> [UInt8] {
        var last = try pixels()
        var same = 0
        for _ in 0..<400 where same < 4 || !condition(last) {
            let next = try pixels()
            same = next == last ? same + 1 : 0
            last = next
        }
        return last
    }

    /// How many colours there are among pixels, as far as every seventh of them tells.
    public static func colours(of pixels: [UInt8]) -> Int {
        var colours: Set<UInt32> = []
        for start in stride(from: 0, to: pixels.count - 2, by: 21) {
            colours.insert(UInt32(pixels[start]) << 16 | UInt32(pixels[start + 1]) << 8 | UInt32(pixels[start + 2]))
        }
        return colours.count
    }
}
