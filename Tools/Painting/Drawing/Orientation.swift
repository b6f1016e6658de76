/// How stored pixels must be turned to be upright, numbered as in EXIF.
enum Orientation: UInt16, Sendable, CaseIterable {
    case upright = 1
    case mirrored = 2
    case halfTurned = 3
    case flipped = 4
    case transposed = 5
    case quarterTurnedLeft = 6
    case transversed = 7
    case quarterTurnedRight = 8

    /// Whether the stored picture's width is the upright one's height.
    var swapsSides: Bool { rawValue >= 5 }

    /// Returns the pixels to store so that a viewer shows `seen`.
    func stored(_ seen: Raster) -> Raster {
        guard self != .upright else { return seen }
        var result = Raster(
            width: swapsSides ? seen.height : seen.width, height: swapsSides ? seen.width : seen.height)
        for y in 0..<result.height {
            for x in 0..<result.width {
                let (seenX, seenY) = place(x, y, result.width - 1, result.height - 1)
                let from = (seenY * seen.width + seenX) * 3
                let to = (y * result.width + x) * 3
                for channel in 0..<3 {
                    result.bytes[to + channel] = seen.bytes[from + channel]
                }
            }
        }
        return result
    }

    /// Returns the upright position of the stored pixel (x, y), given the last stored column and row.
    private func place(_ x: Int, _ y: Int, _ lastX: Int, _ lastY: Int) -> (Int, Int) {
        switch self {
        case .upright: (x, y)
        case .mirrored: (lastX - x, y)
        case .halfTurned: (lastX - x, lastY - y)
        case .flipped: (x, lastY - y)
        case .transposed: (y, x)
        case .quarterTurnedLeft: (lastY - y, x)
        case .transversed: (lastY - y, lastX - x)
        case .quarterTurnedRight: (y, lastX - x)
        }
    }
}
