import Cells
import Pictures
import Settings
import Terminal

/// `vitrine show`: draws pictures on standard output, and nothing else.
struct ShowCommand {
    let house: House

    func run(_ files: [String], size: Invocation.ShowSize?) -> ExitCode {
        var capabilities = Capabilities(ofStandardOutput: TerminalEnvironment())
        if house.settings.ascii { capabilities.unicode = false }
        if let colours = house.settings.colours.depth { capabilities.colours = colours }
        var style = DrawingStyle(capabilities)
        switch house.settings.symbols {
        case .auto: break
        case .ascii: style.symbols = .ascii
        case .half: style.symbols = .half
        }
        let room = self.room(size)
        var code = ExitCode.done
        for file in files {
            do {
                let picture = try house.decoder.draw(.file(file), room: room, style: style)
                Output.write(Self.lines(picture.cells, capabilities))
                if !picture.isComplete { Output.complain("\(file) is cut short.") }
            } catch {
                Output.complain("\(file): \(error)")
                code = .someFailed
            }
        }
        return code
    }

    /// What was asked for, or the terminal, with a line left for what comes after.
    private func room(_ size: Invocation.ShowSize?) -> Size {
        if let size { return Size(columns: size.columns, rows: size.rows) }
        guard let terminal = Capabilities.standardOutputSize else { return Size(columns: 80, rows: 24) }
        return Size(columns: terminal.columns, rows: max(1, terminal.rows - 1))
    }

    private static func lines(_ cells: CellBlock, _ capabilities: Capabilities) -> [UInt8] {
        var encoder = SGREncoder(capabilities)
        for row in 0..<cells.size.rows {
            for column in 0..<cells.size.columns { encoder.write(cells[column, row]) }
            // Plain before the line's end: a background colour would go on to the edge.
            encoder.reset()
            encoder.write("\n")
        }
        return encoder.bytes
    }
}
