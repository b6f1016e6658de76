/// How one component is decoded at a scale.
struct ComponentPlan {
    /// Its blocks in an MCU, side by side and one above the other.
    let across: Int
    let down: Int
    /// The samples that become of a block.
    let blockWidth: Int
    let blockHeight: Int
    /// Samples from one row of the plane to the next.
    let stride: Int
    /// How often a sample is to be halved to get from a pixel to its sample: 1 where the samples stand for two pixels.
    let pixelShift: Int
    let rowShift: Int
    /// The step of each coefficient in zigzag order, times 64, and its place in the block.
    let steps: [UInt32]
    let first: HuffmanLookup
    let other: HuffmanLookup

    /// For each coefficient in zigzag order, its place in the block row by row (T.81, figure 5).
    private static let places: [UInt32] = [
        0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14,
        21,
        28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61,
        54, 47, 55, 62, 63,
    ]

    /// Prepares for a scale. A component with half the samples in a direction is decoded at twice the scale there, as long
    /// as there are samples left: only a picture in full size has pixels that share theirs.
    init(_ component: Component, of header: Header, eighths: Int) {
        across = component.across
        down = component.down
        let missingAcross = header.lumaBlocks.across / component.across
        let missingDown = header.lumaBlocks.down / component.down
        blockWidth = min(8, eighths * missingAcross)
        blockHeight = min(8, eighths * missingDown)
        pixelShift = eighths * missingAcross > 8 ? 1 : 0
        rowShift = eighths * missingDown > 8 ? 1 : 0
        stride = header.columns * component.across * blockWidth
        steps = zip(component.quantisation, Self.places).map { UInt32($0) << 6 | $1 }
        first = HuffmanLookup(component.first, .first)
        other = HuffmanLookup(component.other, .other)
    }
}
