import Cells
import Pictures
import UI
import Settings
import Terminal

/// `vitrine show`: draws pictures on standard output.
struct ShowCommand {
    let services: Services

    /// The number of pictures up to which decoding without a decoder server is faster.
    private static let few = 2

    /// The output of the command for one file.
    private struct Drawing: Sendable {
        var bytes: [UInt8] = []
        /// The message for standard error, if the picture is truncated or cannot be drawn.
        var complaint: String?
        var failed = false
    }

    /// Decodes files concurrently and draws them in order.
    func run(_ files: [String], size: Invocation.ShowSize?) async -> ExitCode {
        // Even with known capabilities, only the terminal knows the background of transparent pictures.
        let terminal = OutputTerminal(
            TerminalEnvironment(), services.settings.terminalWishes,
            isThorough: services.settings.transparency == .background)
        defer { terminal.end() }
        let capabilities = terminal.findings.capabilities
        let style = DrawingStyle(capabilities, services.settings)
        let space = Self.space(size, style, on: terminal.size)
        let pictures = InlinePictures()
        let decoder = files.count > Self.few ? services.decoder : services.decoderOfFew
        // Limit the number of finished pictures that wait for a slower picture, because they take memory.
        let (width, lead) = (Services.cores, 4 * Services.cores)
        return await withTaskGroup(of: (Int, Drawing).self) { group in
            var code = ExitCode.done
            var finished: [Int: Drawing] = [:]
            var (begun, running, shown) = (0, 0, 0)
            while shown < files.count {
                while begun < min(files.count, shown + lead), running < width {
                    group.addTask { [begun] in
                        let drawing = draw(files[begun], decoder, space, style, capabilities) {
                            pictures.bytes($0, at: begun)
                        }
                        return (begun, drawing)
                    }
                    begun += 1
                    running += 1
                }
                guard let (index, drawing) = await group.next() else { break }
                running -= 1
                finished[index] = drawing
                while let drawing = finished.removeValue(forKey: shown) {
                    shown += 1
                    services.output.write(drawing.bytes)
                    if let complaint = drawing.complaint { Output.complain(complaint) }
                    if drawing.failed { code = .someFailed }
                }
            }
            return code
        }
    }

    /// Decodes and draws a file.
    ///
    /// - Parameter sequences: returns the bytes that show a picture in pixels.
    private func draw(
        _ file: String, _ decoder: DecoderClient, _ space: Size, _ style: DrawingStyle, _ capabilities: Capabilities,
        _ sequences: (PixelPicture) -> [UInt8]
    ) -> Drawing {
        do {
            let picture = try decoder.draw(.file(file), size: space, style: style)
            let bytes = picture.pixels.map(sequences) ?? Self.lines(picture.cells, capabilities)
            return Drawing(bytes: bytes, complaint: picture.isComplete ? nil : "\(file) is truncated.")
        } catch {
            return Drawing(complaint: "\(file): \(error)", failed: true)
        }
    }

    /// Returns the given size, or the terminal's size with one row less.
    ///
    /// Pictures of pixels cannot be higher than the terminal, so the call limits their rows.
    private static func space(_ size: Invocation.ShowSize?, _ style: DrawingStyle, on terminal: Size?) -> Size {
        let whole = terminal.map { Size(columns: $0.columns, rows: max(1, $0.rows - 1)) }
        guard let size else { return whole ?? Size(columns: 80, rows: 24) }
        let rows = style.pixels == nil ? size.rows : min(size.rows, whole?.rows ?? size.rows)
        return Size(columns: size.columns, rows: rows)
    }

    private static func lines(_ cells: CellBlock, _ capabilities: Capabilities) -> [UInt8] {
        var encoder = SGREncoder(capabilities)
        for row in 0..<cells.size.rows {
            for column in 0..<cells.size.columns { encoder.write(cells[column, row]) }
            // Reset before the newline. Otherwise a background colour would extend to the edge of the terminal.
            encoder.reset()
            encoder.write("\n")
        }
        return encoder.bytes
    }
}
