import Cells

/// A bar that fills from the left; or, where nothing is drawn, how much of it would be full.
enum ProgressBar {
    static func draw(_ fraction: Double, in surface: inout Surface, _ frame: Rect, _ theme: Theme) {
        let fraction = min(1, max(0, fraction))
        guard !theme.signs.isPlain else {
            surface.write(text(fraction), in: frame, style: theme.detail)
            return
        }
        let done = Int((Double(frame.size.columns) * fraction).rounded())
        var rest = frame
        surface.write(
            String(repeating: theme.signs.barDone, count: done), in: rest.takeLeft(done), style: theme.barDone)
        surface.write(String(repeating: theme.signs.barLeft, count: rest.size.columns), in: rest, style: theme.barLeft)
    }

    /// `45 percent`; in ten columns, as most bars have.
    private static func text(_ fraction: Double) -> String {
        let percent = Int((fraction * 100).rounded(.down))
        return percent == 100 ? "complete" : "\(percent) percent"
    }
}
