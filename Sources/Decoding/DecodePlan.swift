import Pixels

/// How one request is met for one picture: all the geometry, decided from the header before the first pixel.
///
/// Rows are scaled as they are stored, and only the small result is turned upright.
struct DecodePlan {
    /// The part of the stored picture to be read.
    let region: PixelRect
    /// The output's sides as long as it is not turned yet.
    let output: PixelSize

    private let request: DecodeRequest
    private let orientation: Orientation
    private let sourceSize: PixelSize

    /// Plans for a picture of `stored` pixels.
    init(stored: PixelSize, orientation: Orientation, request: DecodeRequest) {
        let upright = orientation.turned(stored)
        let layout = PictureLayout(of: upright, for: request)
        region = orientation.stored(layout.region).scaled(to: stored)
        output = orientation.turned(layout.output)
        sourceSize = upright
        self.orientation = orientation
        self.request = request
    }

    /// Room for the output's rows.
    func emptyRows() -> [UInt8] {
        var rows: [UInt8] = []
        rows.reserveCapacity(PixelBuffer.byteCount(of: output) ?? 0)
        return rows
    }

    /// The answer without pixels.
    func reply(format: String, metadata: PictureMetadata) -> DecodeReply {
        DecodeReply(
            to: request, sourceSize: sourceSize, format: format, orientation: orientation, isComplete: true,
            metadata: metadata, pixels: nil)
    }

    /// The answer with the output's rows, as stored and as many as there were.
    func reply(format: String, metadata: PictureMetadata, rows: [UInt8], isComplete: Bool) -> DecodeReply {
        let stored = PixelBuffer(size: output, rows: rows, background: request.background)
        return DecodeReply(
            to: request, sourceSize: sourceSize, format: format, orientation: orientation, isComplete: isComplete,
            metadata: metadata, pixels: orientation.turned(stored))
    }
}
