import Pixels

/// Which part of a picture libwebp is asked for, and how far it is to reduce it: to twice the output, of which the area
/// filter makes the rest. Its own scaling alone would put the edges of a region on whole pixels.
struct WebPPart {
    /// The part's columns; they begin with an even one, which libwebp would see to otherwise.
    let columns: Range<Int>
    /// The part's rows, likewise.
    let rows: Range<Int>
    /// The part's sides when it is reduced.
    let scaled: PixelSize
    /// What is wanted, in the reduced part.
    let region: PixelRect

    /// Up to here a transparent picture is not reduced by libwebp, which mixes colours with those of transparent pixels.
    private static let mostTransparentPixels = 1 << 24

    /// All of a picture as it is.
    init(whole size: PixelSize) {
        columns = 0..<size.width
        rows = 0..<size.height
        scaled = size
        region = PixelRect(whole: size)
    }

    /// What a plan needs of a picture.
    init(_ plan: DecodePlan, hasAlpha: Bool) {
        let wanted = plan.region
        let (touchedColumns, touchedRows) = (wanted.columns(of: plan.stored.width), wanted.rows(of: plan.stored.height))
        let (left, top) = (touchedColumns.lowerBound & ~1, touchedRows.lowerBound & ~1)
        columns = left..<touchedColumns.upperBound
        rows = top..<touchedRows.upperBound
        let mayReduce = !hasAlpha || columns.count * rows.count > Self.mostTransparentPixels
        scaled = PixelSize(
            width: mayReduce ? min(columns.count, 2 * plan.output.width) : columns.count,
            height: mayReduce ? min(rows.count, 2 * plan.output.height) : rows.count)
        let horizontally = Double(scaled.width) / Double(columns.count)
        let vertically = Double(scaled.height) / Double(rows.count)
        region = PixelRect(
            x: (wanted.x - Double(left)) * horizontally, y: (wanted.y - Double(top)) * vertically,
            width: wanted.width * horizontally, height: wanted.height * vertically)
    }
}
