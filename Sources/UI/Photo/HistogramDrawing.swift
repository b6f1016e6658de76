import Cells
import Pictures

/// Draws how a picture's tones are spread: bars from dark to bright, of the brightness and of each colour.
struct HistogramDrawing {
    let theme: Theme

    /// The most rows that all of it takes: six for each channel.
    static let most = Histogram.Channel.allCases.count * 6

    /// Draws all channels one below the other, each as high as the others; where that would be too low, the colours a row
    /// each below the brightness; and nothing where there is no room for four rows.
    func draw(_ histogram: Histogram, in surface: inout Surface, _ frame: Rect) {
        let rows = frame.size.rows
        guard rows >= 4, frame.size.columns >= 8 else { return }
        let channels = Histogram.Channel.allCases
        let each = min(6, rows / channels.count)
        let brightest = each >= 4 ? each : min(6, rows - (channels.count - 1))
        var rest = frame
        _ = rest.takeTop(each >= 4 ? rows - channels.count * each : 0)
        guard brightest >= 4 else { return draw(histogram, .luminance, in: &surface, rest.takeBottom(min(6, rows))) }
        for channel in channels {
            let height = channel == .luminance ? brightest : each >= 4 ? each : 1
            draw(histogram, channel, in: &surface, rest.takeTop(height))
        }
    }

    private func draw(
        _ histogram: Histogram, _ channel: Histogram.Channel, in surface: inout Surface, _ frame: Rect
    ) {
        var rest = frame
        let (letter, style) = look(channel)
        var label = rest.takeLeft(2)
        surface.write(letter, in: label.takeBottom(1), style: style)
        let bars = histogram.bars(channel, rest.size.columns)
        for (distance, row) in rest.rows.reversed().enumerated() {
            let text = String(bars.map { sign($0 * Double(rest.size.rows) - Double(distance)) })
            surface.write(
                text, in: Rect(column: rest.origin.column, row: row, columns: rest.size.columns, rows: 1), style: style)
        }
    }

    /// For the part of a bar that is in a row: none of it, some of the row, or all of it.
    private func sign(_ height: Double) -> Character {
        let signs = theme.signs.heights
        let eighths = Int((height * Double(signs.count)).rounded(.up))
        return eighths <= 0 ? " " : signs[min(eighths, signs.count) - 1]
    }

    private func look(_ channel: Histogram.Channel) -> (letter: String, style: Style) {
        switch channel {
        case .luminance: ("L", theme.name)
        case .red: ("R", theme.red)
        case .green: ("G", theme.green)
        case .blue: ("B", theme.blue)
        }
    }
}
