import Cells
import Commands
import Model
import Pictures

/// What is said of a photo beside its picture.
extension PhotoScreen {
    func examination(of photo: Photo) -> PictureOrder { .examination(of: photo, in: results.cache.id) }

    func drawPanel(in surface: inout Surface) {
        guard panel.content != .none, let photo, panelFrame.size.columns > 2, panelFrame.size.rows > 1 else { return }
        var rest = panelFrame
        // What another photo's picture has left there.
        surface.fill(rest)
        drawRule(in: &surface, &rest)
        let examination = photo.original.held == nil ? nil : context.pipeline.examination(examination(of: photo))
        var facts = PhotoReport(
            photo: photo, metadata: metadata(of: photo, examination), hasUnicode: context.capabilities.unicode)
        switch panel.content {
        case .none: break
        case .facts:
            if let histogram = examination?.histogram, !context.settings.plain {
                let needed = PhotoPanel.isBeside(panelFrame) ? facts.facts(width: rest.size.columns).count + 1 : 0
                let room = takeHistogramRoom(&rest, leaving: needed)
                HistogramDrawing(theme: context.theme).draw(histogram, in: &surface, room)
            }
            draw(facts.facts(width: rest.size.columns), in: &surface, rest)
        case .everything:
            facts.fields = examination?.fields ?? []
            draw(facts.everything(width: rest.size.columns), in: &surface, rest)
        }
    }

    private func draw(_ lines: [PhotoReport.Line], in surface: inout Surface, _ frame: Rect) {
        let seen = panel.layOut(count: lines.count, visible: frame.size.rows)
        for (row, index) in zip(frame.rows, seen) {
            let place = Rect(column: frame.origin.column, row: row, columns: frame.size.columns, rows: 1)
            PhotoReport.draw(lines[index], in: &surface, place, context.theme)
        }
    }

    private func metadata(of photo: Photo, _ examination: PhotoExamination?) -> PhotoMetadata? {
        let kept = try? delegate?.reader.metadata(of: photo.key)
        return PhotoLook(gallery: gallery).metadata(of: photo, kept, examination)
    }

    /// Between the picture and what is said of it.
    private func drawRule(in surface: inout Surface, _ rest: inout Rect) {
        if PhotoPanel.isBeside(panelFrame) {
            let rule = rest.takeLeft(1)
            for row in rule.rows {
                surface.write(
                    context.theme.signs.upright, in: Rect(column: rule.origin.column, row: row, columns: 1, rows: 1),
                    style: context.theme.detail)
            }
        } else if rest.size.rows >= PhotoPanel.leastHeight {
            let rule = rest.takeTop(1)
            surface.write(
                context.theme.signs.rule(rule.size.columns), in: rule, style: context.theme.detail)
        }
        _ = rest.takeLeft(1)
        _ = rest.takeRight(1)
    }

    /// Below what is said, if that leaves enough; or at the right of it, where the panel is low and wide.
    private func takeHistogramRoom(_ rest: inout Rect, leaving lines: Int) -> Rect {
        if PhotoPanel.isBeside(panelFrame) {
            return rest.takeBottom(min(HistogramDrawing.most, max(0, rest.size.rows - lines)))
        }
        guard rest.size.columns >= 66 else { return rest.takeRight(0) }
        defer { _ = rest.takeRight(2) }
        return rest.takeRight(min(34, rest.size.columns / 2 - 4))
    }
}
