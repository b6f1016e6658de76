import Glibc
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
        /// How long it is shown, in milliseconds.
        let duration: Int
    }

    /// The canvas's size.
    let size: PixelSize
    /// The pictures in the file's order.
    let frames: [Frame]

    /// The most pixels that are unpacked to show one picture, about two seconds' work. Who asks for a picture so late in an
    /// animation that more would be needed gets it over fewer of those before it.
    private static let mostPixels = 1 << 27

    /// Answers with picture `index`, and with those behind it that are wanted at once. Every picture is painted that is to be
    /// seen then; `paint` paints one, and returns how much of it came.
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
        for current in index + 1..<max(index + 1, min(index + plan.request.picturesAtOnce, frames.count)) {
            work += frames[current].pixelCount + size.width * size.height
            guard work <= Self.mostPixels else { break }
            covered = try prepare(current, from: first, on: canvas, covered)
            // What does not come whole is asked for by itself, and says so then.
            guard (try? paint(current, canvas)) == .all,
                let pixels = try rows(of: canvas, by: plan, conversion).reply(facts, isComplete: true).pixels
            else { break }
            following.append(AnimationPicture(pixels: pixels, duration: frames[current].duration))
        }
        return following.isEmpty ? reply : reply.with(following: following, for: plan.request)
    }

    /// Takes away what the picture before leaves, and keeps what this one covers, if it is to come back.
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

/// What the pictures of an animation paint on, one after the other: red, green, blue and opacity, transparent at first.
///
/// Its memory is calloc's, because an array that does not fit into memory ends the process without an answer.
final class AnimationCanvas {
    /// A part of the canvas in whole pixels.
    struct Area {
        let columns: Range<Int>
        let rows: Range<Int>

        /// The part of a rectangle that lies on a canvas.
        init(x: Int, y: Int, width: Int, height: Int, on size: PixelSize) {
            columns = min(x, size.width)..<min(x + width, size.width)
            rows = min(y, size.height)..<min(y + height, size.height)
        }

        /// Whether it is all of the canvas.
        func covers(_ size: PixelSize) -> Bool {
            columns == 0..<size.width && rows == 0..<size.height
        }

        /// How many pixels it has.
        var pixelCount: Int { columns.count * rows.count }
    }

    static let bytesPerPixel = 4

    let size: PixelSize
    private let pixels: UnsafeMutablePointer<UInt8>

    /// Makes an empty canvas, whose size was found good.
    init(size: PixelSize) throws(DecodeFailure) {
        guard let memory = calloc(max(1, size.width * size.height), Self.bytesPerPixel) else { throw .outOfMemory }
        self.size = size
        pixels = memory.assumingMemoryBound(to: UInt8.self)
    }

    deinit {
        free(pixels)
    }

    /// One row's bytes, as long as the canvas lives.
    func row(_ y: Int) -> UnsafeMutableBufferPointer<UInt8> {
        let length = size.width * Self.bytesPerPixel
        return UnsafeMutableBufferPointer(start: pixels + y * length, count: length)
    }

    /// Makes a part transparent.
    func clear(_ area: Area) {
        forEachRow(of: area) { _, bytes in bytes.update(repeating: 0) }
    }

    /// A copy of a part, to be put back later.
    func copy(of area: Area) throws(DecodeFailure) -> AnimationCanvas {
        let copy = try AnimationCanvas(size: PixelSize(width: area.columns.count, height: area.rows.count))
        forEachRow(of: area) { row, bytes in _ = copy.row(row - area.rows.lowerBound).update(fromContentsOf: bytes) }
        return copy
    }

    /// Puts a copy back where it was made.
    func restore(_ copy: AnimationCanvas, in area: Area) {
        forEachRow(of: area) { row, bytes in _ = bytes.update(fromContentsOf: copy.row(row - area.rows.lowerBound)) }
    }

    private func forEachRow(of area: Area, _ body: (Int, UnsafeMutableBufferPointer<UInt8>) -> Void) {
        let bytes = area.columns.lowerBound * Self.bytesPerPixel..<area.columns.upperBound * Self.bytesPerPixel
        for y in area.rows { body(y, UnsafeMutableBufferPointer(rebasing: row(y)[bytes])) }
    }
}
