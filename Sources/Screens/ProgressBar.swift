import Cells

/// A bar that fills from the left.
enum ProgressBar {
    static func draw(_ fraction: Double, in surface: inout Surface, _ frame: Rect, _ theme: Theme) {
        let done = Int((Double(frame.size.columns) * min(1, max(0, fraction))).rounded())
        var rest = frame
        surface.write(String(repeating: "━", count: done), in: rest.takeLeft(done), style: theme.barDone)
        surface.write(String(repeating: "─", count: rest.size.columns), in: rest, style: theme.barLeft)
    }
}
