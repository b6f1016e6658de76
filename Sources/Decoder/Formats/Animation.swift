import Glibc
import Pixels

/// The frames of an animation and their composition on a canvas.
struct Animation {
    /// The change of a frame's area before the decoder paints the next frame.
    enum Disposal {
        /// The frame stays on the canvas.
        case keep
        /// The frame's area becomes transparent.
        case clear
        /// The frame's area gets its earlier contents back.
        case restore
    }

    /// The part of a frame that was decoded: nothing, a part, or all.
    enum Extent {
        case nothing, part, all
    }

    /// One frame's properties.
    struct Frame {
        let area: AnimationCanvas.Area
        let disposal: Disposal
        /// Whether the frame hides everything below it.
        let isOpaque: Bool
        /// The number of pixels that the decoder must decode for this frame.
        let pixelCount: Int
        /// The number of milliseconds for which to show the frame.
        let duration: Int
    }

    /// The canvas's size.
    let size: PixelSize
    /// The frames in the file's order.
    let frames: [Frame]

    /// The maximum number of pixels to decode for one requested frame. So many pixels take about two seconds. If a
    /// frame needs more pixels, it is composed from only the nearest frames before it.
    private static let mostPixels = 1 << 27

    /// Composes the requested frame, and further frames if requested. The closure `paint` decodes one frame, paints it
    /// on the canvas, and returns how much of the frame the file contains.
    func reply(
        at index: Int, by plan: DecodePlan, _ facts: PictureFacts, _ conversion: ColourConversion?,
        _ paint: (Int, AnimationCanvas) throws(DecodeFailure) -> Extent
    ) throws(DecodeFailure) -> DecodeReply {
        let canvas = try AnimationCanvas(size: size)
        let (first, isWhole) = start(for: index)
        var extents: Set<Extent> = isWhole ? [] : [.part]
        var covered: AnimationCanvas?
        for current in first...index {
            covered = try prepare(current, from: first, on: canvas, covered)
            extents.insert(try paint(current, canvas))
        }
        let extent = extents.count == 1 ? extents.first ?? .part : .part
        let reply = try rows(of: canvas, by: plan, conversion).reply(
            facts, isComplete: extent == .all, cameToAnything: extent != .nothing)
        var following: [AnimationPicture] = []
        var work = 0
        let most = plan.request.picturesAtOnce(of: plan.output)
        for current in index + 1..<max(index + 1, min(index + most, frames.count)) {
            work += frames[current].pixelCount + size.width * size.height
            guard work <= Self.mostPixels else { break }
            covered = try prepare(current, from: first, on: canvas, covered)
            // Omit an incomplete frame, because a reply says only of its first frame whether that frame is complete.
            // Another request can begin with the omitted frame.
            guard (try? paint(current, canvas)) == .all,
                let pixels = try rows(of: canvas, by: plan, conversion).reply(facts, isComplete: true).pixels
            else { break }
            following.append(AnimationPicture(pixels: pixels, duration: frames[current].duration))
        }
        return following.isEmpty ? reply : reply.with(following: following, for: plan.request)
    }

    /// Applies the previous frame's disposal. Returns a copy of the current frame's area if that area must be restored
    /// later.
    private func prepare(
        _ current: Int, from first: Int, on canvas: AnimationCanvas, _ covered: AnimationCanvas?
    ) throws(DecodeFailure) -> AnimationCanvas? {
        if current > first { dispose(of: frames[current - 1], on: canvas, covered) }
        return frames[current].disposal == .restore ? try canvas.copy(of: frames[current].area) : nil
    }

    private func rows(
        of canvas: AnimationCanvas, by plan: DecodePlan, _ conversion: ColourConversion?
    ) -> OutputRows {
        var output = OutputRows(plan, source: size, region: plan.region, channels: .rgba, conversion: conversion)
        for row in output.sourceRows { output.add(UnsafeBufferPointer(canvas.row(row))) }
        return output
    }

    private func dispose(of frame: Frame, on canvas: AnimationCanvas, _ covered: AnimationCanvas?) {
        switch frame.disposal {
        case .keep: break
        case .clear: canvas.clear(frame.area)
        case .restore: if let covered { canvas.restore(covered, in: frame.area) }
        }
    }

    /// Returns the index of the first frame to paint. `isWhole` is false if the limit of pixels excludes frames that
    /// the requested frame needs.
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

/// The canvas that frames are painted on, in RGBA. A new canvas is transparent.
///
/// The memory comes from `calloc`, because the process would end without an answer if an array's allocation failed.
final class AnimationCanvas {
    /// A part of the canvas in whole pixels.
    struct Area {
        let columns: Range<Int>
        let rows: Range<Int>

        /// Creates an area from the part of a rectangle that is on the canvas.
        init(x: Int, y: Int, width: Int, height: Int, on size: PixelSize) {
            columns = min(x, size.width)..<min(x + width, size.width)
            rows = min(y, size.height)..<min(y + height, size.height)
        }

        /// Whether the area is the whole canvas.
        func covers(_ size: PixelSize) -> Bool {
            columns == 0..<size.width && rows == 0..<size.height
        }

        /// The number of pixels in the area.
        var pixelCount: Int { columns.count * rows.count }
    }

    static let bytesPerPixel = 4

    /// The size of the canvas. Decoders check frames against this size.
    let size: PixelSize
    private let pixels: UnsafeMutablePointer<UInt8>

    /// Creates a transparent canvas. The caller must check the size first.
    init(size: PixelSize) throws(DecodeFailure) {
        guard let memory = calloc(max(1, size.width * size.height), Self.bytesPerPixel) else { throw .outOfMemory }
        self.size = size
        pixels = memory.assumingMemoryBound(to: UInt8.self)
    }

    deinit {
        free(pixels)
    }

    /// Returns the bytes of a row. The pointer is valid while the canvas exists.
    func row(_ y: Int) -> UnsafeMutableBufferPointer<UInt8> {
        let length = size.width * Self.bytesPerPixel
        return UnsafeMutableBufferPointer(start: pixels + y * length, count: length)
    }

    /// Makes an area of the canvas transparent.
    func clear(_ area: Area) {
        forEachRow(of: area) { _, bytes in bytes.update(repeating: 0) }
    }

    /// Copies an area of the canvas.
    func copy(of area: Area) throws(DecodeFailure) -> AnimationCanvas {
        let copy = try AnimationCanvas(size: PixelSize(width: area.columns.count, height: area.rows.count))
        forEachRow(of: area) { row, bytes in _ = copy.row(row - area.rows.lowerBound).update(fromContentsOf: bytes) }
        return copy
    }

    /// Puts a copied area back onto the canvas.
    func restore(_ copy: AnimationCanvas, in area: Area) {
        forEachRow(of: area) { row, bytes in _ = bytes.update(fromContentsOf: copy.row(row - area.rows.lowerBound)) }
    }

    private func forEachRow(of area: Area, _ body: (Int, UnsafeMutableBufferPointer<UInt8>) -> Void) {
        let bytes = area.columns.lowerBound * Self.bytesPerPixel..<area.columns.upperBound * Self.bytesPerPixel
        for y in area.rows { body(y, UnsafeMutableBufferPointer(rebasing: row(y)[bytes])) }
    }
}
