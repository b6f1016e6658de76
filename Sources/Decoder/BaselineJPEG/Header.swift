/// What a file says before its scan.
struct Header: Sendable {
    let width: Int
    let height: Int
    /// One, grey, or three: luma, blue-difference and red-difference chroma.
    let components: [Component]
    /// MCUs from one restart marker to the next; 0 without restarts.
    let restartInterval: Int
    /// Where in the file the entropy-coded data begin.
    let scanStart: Int

    /// Blocks of the first component in an MCU, side by side and one above the other. All others have one block.
    var lumaBlocks: (across: Int, down: Int) { (components[0].across, components[0].down) }
    /// MCUs in a row.
    var columns: Int { (width + 8 * lumaBlocks.across - 1) / (8 * lumaBlocks.across) }
    /// Rows of MCUs.
    var rows: Int { (height + 8 * lumaBlocks.down - 1) / (8 * lumaBlocks.down) }
    /// How many stretches the restart markers cut the scan into.
    var intervals: Int { restartInterval == 0 ? 1 : (columns * rows + restartInterval - 1) / restartInterval }
    /// Blocks in the whole scan.
    var blocks: Int { columns * rows * (lumaBlocks.across * lumaBlocks.down + components.count - 1) }
}
