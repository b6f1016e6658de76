import Cells
import Pictures

/// A photo for those who do not see it: what it says of itself, in place of the picture.
extension PhotoScreen {
    func drawPlain(in surface: inout Surface, _ frame: Rect) {
        pictureFrame = Rect(Size(columns: 0, rows: 0))
        panel.open()
        panelFrame = frame
        let orders = photo.map { $0.original.held == nil ? [] : [examination(of: $0)] } ?? []
        if isOnTop { context.pipeline.want(orders, by: client, importance: .lookedAt) }
        drawPanel(in: &surface)
        if isOnTop { noteFrame() }
    }
}
