import Cells
import Commands

/// What a mouse does on a photo: the wheel makes it larger around the cursor, or smaller; with a button down it is moved.
extension PhotoScreen {
    func followMouse(_ mouse: InputEvent.Mouse) -> Bool {
        if panelFrame.contains(mouse.position) { return followInPanel(mouse) }
        let place = Point(
            column: mouse.position.column - pictureFrame.origin.column,
            row: mouse.position.row - pictureFrame.origin.row)
        switch mouse.action {
        case .wheelUp: view.zoomIn(around: place)
        case .wheelDown: view.zoomOut(around: place)
        case .press(1):
            grip = mouse.position
            return false
        case .drag(1):
            guard let grip else { return false }
            view.pan(columns: grip.column - mouse.position.column, rows: grip.row - mouse.position.row)
            self.grip = mouse.position
        case .release:
            grip = nil
            return false
        default: return false
        }
        stopMoving()
        return true
    }

    private func followInPanel(_ mouse: InputEvent.Mouse) -> Bool {
        switch mouse.action {
        case .wheelUp: panel.scroll(by: -3)
        case .wheelDown: panel.scroll(by: 3)
        default: return false
        }
        return true
    }
}
