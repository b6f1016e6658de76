import Cells
import Pictures

/// A photo for those who do not see it: what it says of itself, in place of the picture.
extension PhotoScreen {
    func drawPlain(in surface: inout Surface, _ frame: Rect) {
        pictureFrame = Rect(Size(columns: 0, rows: 0))
        panel.open()
        panelFrame = frame
        let orders = photo.map { $0.photo.held == nil ? [] : [examination(of: $0)] } ?? []
        if isOnTop { context.darkroom.want(orders, by: customer, importance: .lookedAt) }
        drawPanel(in: &surface)
        if isOnTop { noteFrame() }
    }
}
