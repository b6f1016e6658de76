import Foundation

/// A program in an xterm with sixels, on its own display, whose pixels tests can read.
public final class Xterm {
    private let server: ChildProcess
    private let terminal: ChildProcess
    private let display: String

    /// Starts a program in a window.
    public init(_ command: [String], columns: Int = 100, rows: Int = 40, environment: [String: String]) throws {
        let pipe = try ChildProcess.makePipe()
        // Xvfb finds a free display and prints its number when it is ready. Without -noreset it would restart, and end
        // its clients, when the only client leaves, such as a screenshot program that runs before the terminal.
        server = try ChildProcess(
            "/usr/bin/Xvfb", ["-displayfd", "1", "-screen", "0", "1000x800x24", "-nolisten", "tcp", "-noreset"],
            output: pipe.writing)
        close(pipe.writing)
        defer { close(pipe.reading) }
        // Read the whole line: Xvfb writes number and line end separately, and ends if it cannot.
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
            [
                "-ti", "vt340", "-u8", "-fn", Self.font("medium"), "-fb", Self.font("bold"), "-geometry",
                "\(columns)x\(rows)+0+0",
            ]
                + resources.flatMap { ["-xrm", "XTerm*\($0)"] }
                + ["-e"] + command,
            environment: variables)
    }

    deinit {
        terminal.end()
        server.end()
    }

    /// Returns the name of a font. Glyphs of bitmap fonts stay in their cells and have no smooth edges. Those of other fonts leave a
    /// few pixels in the next cell, which xterm does not always remove.
    private static func font(_ weight: String) -> String {
        "-misc-fixed-\(weight)-r-normal--13-120-75-75-c-80-iso10646-1"
    }

    /// Presses keys, by their names in X.
    public func press(_ keys: [String]) throws {
        // Without a window manager, the window below the mouse gets the keys.
        _ = try Command(
            "/usr/bin/xdotool", ["mousemove", "200", "200", "key", "--delay", "4"] + keys,
            environment: ["DISPLAY": display])
    }

    /// Returns red, green and blue of each pixel.
    public func pixels() throws -> [UInt8] {
        try Command(
            "/usr/bin/import", ["-window", "root", "-depth", "8", "rgb:-"], environment: ["DISPLAY": display]
        ).output
    }

    /// Returns the pixels when they have settled and meet a condition, or at the end of the time.
    public func still(where condition: ([UInt8]) -> Bool = { _ in true }) throws -> [UInt8] {
        var last = try pixels()
        var same = 0
        // On a busy machine a picture takes long, and so may the next frame.
        var since = ContinuousClock.now
        for _ in 0..<400 where same < 4 || ContinuousClock.now - since < .seconds(1.5) || !condition(last) {
            let next = try pixels()
            same = next == last ? same + 1 : 0
            if same == 0 { since = .now }
            last = next
        }
        return last
    }

    /// Returns whether there are more colours than a number, in a sample of every seventh pixel.
    public static func hasColours(_ pixels: [UInt8], moreThan number: Int) -> Bool {
        var colours: Set<UInt32> = []
        var last: UInt32?
        for start in stride(from: 0, to: pixels.count - 2, by: 21) {
            let colour = UInt32(pixels[start]) << 16 | UInt32(pixels[start + 1]) << 8 | UInt32(pixels[start + 2])
            // Most neighbours are alike.
            guard colour != last else { continue }
            last = colour
            colours.insert(colour)
            if colours.count > number { return true }
        }
        return false
    }
}
