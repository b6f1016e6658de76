import Pixels

/// How the pictures of an animation follow each other on its canvas.
struct Animation {
    /// What becomes of a picture before the next one is painted.
    enum Disposal {
        /// It stays.
        case keep
        /// What it covered becomes transparent.
        case clear
        /// What was there before it comes back.
        case restore
    }

    /// How much of a picture came.
    enum Extent {
        case nothing, part, all
    }

    /// One picture's place.
    struct Frame {
        let area: AnimationCanvas.Area
        let disposal: Disposal
        /// Whether nothing of what lies below it is to be seen.
        let isOpaque: Bool
        /// How many pixels have to be unpacked for it.
        let pixelCount: Int
    }

    /// The canvas's size.
    let size: PixelSize
    /// The pictures in the file's order.
    let frames: [Frame]

    /// The most pixels that are unpacked to show one picture, about two seconds' work. Who asks for a picture so late in an
    /// animation that more would be needed gets it over fewer of those before it.
    private static let mostPixels = 1 << 27

    /// Paints every picture that is to be seen when picture `index` is shown. `paint` paints one, and returns how much of it
    /// came.
    func canvas(
        at index: Int, _ paint: (Int, AnimationCanvas) throws(DecodeFailure) -> Extent
    ) throws(DecodeFailure) -> (canvas: AnimationCanvas, extent: Extent) {
        let canvas = try AnimationCanvas(size: size)
        let (first, isWhole) = start(for: index)
        var extents: Set<Extent> = isWhole ? [] : [.part]
        var covered: AnimationCanvas?
        for current in first...index {
            if current > first { dispose(of: frames[current - 1], on: canvas, covered) }
            let frame = frames[current]
            covered = frame.disposal == .restore && current < index ? try canvas.copy(of: frame.area) : nil
            extents.insert(try paint(current, canvas))
        }
        return (canvas, extents.count == 1 ? extents.first ?? .part : .part)
    }

    private func dispose(of frame: Frame, on canvas: AnimationCanvas, _ covered: AnimationCanvas?) {
        switch frame.disposal {
        case .keep: break
        case .clear: canvas.clear(frame.area)
        case .restore: if let covered { canvas.restore(covered, in: frame.area) }
        }
    }

    /// The last picture before which nothing is left to be seen, and whether it was near enough.
    private func start(for index: Int) -> (Int, isWhole: Bool) {
        var pixels = 0
        for current in stride(from: index, through: 1, by: -1) {
            pixels += frames[current].pixelCount
            let (frame, before) = (frames[current], frames[current - 1])
            if frame.isOpaque && frame.area.covers(size) && frame.disposal != .restore { return (current, true) }
            if before.disposal == .clear && before.area.covers(size) { return (current, true) }
            if pixels > Self.mostPixels { return (current, false) }
        }
        return (0, true)
    }
}
