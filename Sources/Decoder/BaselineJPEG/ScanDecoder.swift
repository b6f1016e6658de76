/// Decodes a scan row by row, from blocks to samples and then to pixels.
struct ScanDecoder {
    private let header: Header
    private let width: Int
    private let height: Int
    private let eighths: Int

    /// The current position in the scan.
    private struct Progress {
        var reader: BlockReader
        /// The current restart interval.
        var interval = 0
        /// The number of coded units (MCUs) left in the current restart interval.
        var rest: Int
    }

    init(_ header: Header, eighths: Int) {
        self.header = header
        self.eighths = eighths
        width = (header.width * eighths + 7) / 8
        height = (header.height * eighths + 7) / 8
    }

    /// Decodes the picture. Returns nil if the scan is damaged.
    func decode(_ scan: ScanWords) -> BaselinePixels? {
        let plans = header.components.map { ComponentPlan($0, of: header, eighths: eighths) }
        let bytes = plans.count == 3 ? colours(scan, plans[0], plans[1], plans[2]) : greys(scan, plans[0])
        return bytes.map { BaselinePixels(width: width, height: height, bytes: $0) }
    }

    private func greys(_ scan: ScanWords, _ plan: ComponentPlan) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 3 * width * height)
        var plane = Plane(plan)
        var transform = InverseTransform()
        var progress = begin(scan)
        for row in 0..<header.rows {
            for column in 0..<header.columns {
                if progress.rest == 0 {
                    guard restart(scan, &progress) else { return nil }
                    plane.prediction = 0
                }
                progress.rest &-= 1
                guard plane.decode(column: column, plan, scan.words, &progress.reader, &transform) else { return nil }
            }
            for line in 0..<min(eighths, height - row * eighths) {
                Self.paint(plane.samples, line * plan.stride, width, into: &bytes, 3 * width * (row * eighths + line))
            }
        }
        return isComplete(scan, progress) ? bytes : nil
    }

    private func colours(
        _ scan: ScanWords, _ lumaPlan: ComponentPlan, _ bluePlan: ComponentPlan, _ redPlan: ComponentPlan
    ) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 3 * width * height)
        var luma = Plane(lumaPlan)
        var blue = Plane(bluePlan)
        var red = Plane(redPlan)
        var transform = InverseTransform()
        var progress = begin(scan)
        let linesPerRow = eighths * lumaPlan.down
        for row in 0..<header.rows {
            for column in 0..<header.columns {
                if progress.rest == 0 {
                    guard restart(scan, &progress) else { return nil }
                    (luma.prediction, blue.prediction, red.prediction) = (0, 0, 0)
                }
                progress.rest &-= 1
                guard luma.decode(column: column, lumaPlan, scan.words, &progress.reader, &transform),
                    blue.decode(column: column, bluePlan, scan.words, &progress.reader, &transform),
                    red.decode(column: column, redPlan, scan.words, &progress.reader, &transform)
                else { return nil }
            }
            for line in 0..<min(linesPerRow, height - row * linesPerRow) {
                Self.paint(
                    luma.samples, line * lumaPlan.stride,
                    blue.samples, red.samples, (line >> bluePlan.rowShift) * bluePlan.stride, bluePlan.pixelShift,
                    width, into: &bytes, 3 * width * (row * linesPerRow + line))
            }
        }
        return isComplete(scan, progress) ? bytes : nil
    }

    private func begin(_ scan: ScanWords) -> Progress {
        Progress(
            reader: BlockReader(wordsFrom: 0),
            rest: header.restartInterval == 0 ? header.columns * header.rows : header.restartInterval)
    }

    /// Starts the next interval. Returns false if there is no next interval, or if the decoder has not read the current
    /// interval exactly to its end.
    private func restart(_ scan: ScanWords, _ progress: inout Progress) -> Bool {
        guard isIntervalComplete(scan, progress), progress.interval + 1 < scan.intervals.count else { return false }
        progress.interval += 1
        progress.rest = header.restartInterval
        progress.reader = BlockReader(wordsFrom: scan.intervals[progress.interval].start)
        return true
    }

    private func isIntervalComplete(_ scan: ScanWords, _ progress: Progress) -> Bool {
        progress.interval < scan.intervals.count && progress.reader.isAtEnd(of: scan.intervals[progress.interval])
    }

    private func isComplete(_ scan: ScanWords, _ progress: Progress) -> Bool {
        progress.interval + 1 == scan.intervals.count && isIntervalComplete(scan, progress)
    }

    private static func paint(
        _ luma: [UInt8], _ start: Int, _ width: Int, into bytes: inout [UInt8], _ target: Int
    ) {
        for x in 0..<width {
            let sample = luma[start &+ x]
            bytes[target &+ 3 &* x] = sample
            bytes[target &+ 3 &* x &+ 1] = sample
            bytes[target &+ 3 &* x &+ 2] = sample
        }
    }

    /// Converts a row from YCbCr to RGB as in JFIF (T.871, 7). The factors are in units of 1/65536.
    private static func paint(
        _ luma: [UInt8], _ lumaStart: Int, _ blue: [UInt8], _ red: [UInt8], _ chromaStart: Int, _ chromaShift: Int,
        _ width: Int, into bytes: inout [UInt8], _ target: Int
    ) {
        for x in 0..<width {
            let light = Int32(luma[lumaStart &+ x]) &<< 16 &+ 0x8000
            let chroma = chromaStart &+ x &>> chromaShift
            let blueness = Int32(blue[chroma]) &- 128
            let redness = Int32(red[chroma]) &- 128
            let pixel = target &+ 3 &* x
            bytes[pixel] = clamped(light &+ 91881 &* redness)
            bytes[pixel &+ 1] = clamped(light &- 22554 &* blueness &- 46802 &* redness)
            bytes[pixel &+ 2] = clamped(light &+ 116130 &* blueness)
        }
    }

    @inline(__always)
    private static func clamped(_ value: Int32) -> UInt8 {
        UInt8(truncatingIfNeeded: max(0, min(255, value &>> 16)))
    }
}

/// The geometry and tables for decoding one component at a scale.
struct ComponentPlan {
    /// The number of the component's blocks in a coded unit (MCU), horizontally and vertically.
    let across: Int
    let down: Int
    /// The width and height of a decoded block, in samples.
    let blockWidth: Int
    let blockHeight: Int
    /// The distance between rows of the plane, in samples.
    let stride: Int
    /// The shift that converts a pixel's column to its sample's column. The shift is 1 if a sample covers two columns
    /// of pixels, otherwise 0.
    let pixelShift: Int
    let rowShift: Int
    /// For each coefficient in zigzag order, its quantisation step times 64, plus its index in the block.
    let steps: [UInt32]
    let first: HuffmanLookup
    let other: HuffmanLookup

    /// For each coefficient in zigzag order, its index in the block (T.81, figure 5).
    private static let zigzag: [UInt32] = [
        0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14,
        21,
        28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61,
        54, 47, 55, 62, 63,
    ]

    /// Plans the decoding of a component at a scale. If the component has half as many samples in a direction, it is
    /// decoded at twice the scale in that direction. At full size, that is impossible, so two pixels share a sample.
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
        steps = zip(component.quantisation, Self.zigzag).map { UInt32($0) << 6 | $1 }
        first = HuffmanLookup(component.first, .first)
        other = HuffmanLookup(component.other, .other)
    }
}

/// The samples of one component in a row of coded units (MCUs).
struct Plane {
    /// The samples, row by row. `ComponentPlan.stride` is the length of a row.
    var samples: [UInt8]
    /// The first coefficient of the previous block, in quantisation steps. The next block stores the difference from
    /// this coefficient.
    var prediction: Int32 = 0

    init(_ plan: ComponentPlan) {
        samples = [UInt8](repeating: 0, count: plan.stride * plan.down * plan.blockHeight)
    }

    /// Decodes the component's part of the coded unit (MCU) in a column. Returns false if the data are damaged.
    mutating func decode(
        column: Int, _ plan: ComponentPlan, _ words: [UInt32], _ reader: inout BlockReader,
        _ transform: inout InverseTransform
    ) -> Bool {
        for down in 0..<plan.down {
            for across in 0..<plan.across {
                let x = (column &* plan.across &+ across) &* plan.blockWidth
                let start = down &* plan.blockHeight &* plan.stride &+ x
                if plan.blockWidth == 1, plan.blockHeight == 1 {
                    guard reader.readFirst(words, plan.first, plan.other, &prediction) else { return false }
                    let coefficient = prediction &* Int32(bitPattern: plan.steps[0] &>> 6)
                    samples[start] = InverseTransform.sample(ofFirst: coefficient)
                } else {
                    let present = reader.read(
                        words, plan.first, plan.other, plan.steps, &prediction, into: &transform.coefficients)
                    guard present != 0 else { return false }
                    transform.transform(
                        present, width: plan.blockWidth, height: plan.blockHeight, to: &samples, at: start,
                        stride: plan.stride)
                }
            }
        }
        return true
    }
}

/// A simple JPEG file and a memory-safe decoder for it.
///
/// The code checks every index and uses no pointer, so a damaged file cannot reach the memory of another picture.
///
///     guard let picture = BaselinePicture(bytes), let small = picture.decoded(eighths: 2) else {
///         return // Unusual or damaged: decode this picture in a process of its own.
///     }
///
/// The decoder supports baseline JPEGs with 8 bits, grey or YCbCr in one scan, with chroma at full or half resolution.
/// It declines all other files: progressive files, CMYK, files whose metadata may contain an orientation or a profile,
/// and damaged files.
public struct BaselinePicture: Sendable {
    /// The picture's width in pixels, before scaling.
    public let width: Int
    /// The picture's height in pixels, before scaling.
    public let height: Int

    /// The bytes of the whole file.
    private let bytes: [UInt8]
    private let header: Header

    /// Reads the file's header, up to the start of the scan. Returns nil if this decoder does not support the file.
    ///
    /// This initialiser does not read the scan, so `decoded` may still decline the picture.
    public init?(_ bytes: [UInt8]) {
        var reader = HeaderReader(bytes)
        guard let header = reader.header() else { return nil }
        self.bytes = bytes
        self.header = header
        width = header.width
        height = header.height
    }

    /// Decodes the picture at `eighths`/8 of its size, rounded up. `eighths` must be 1, 2, 4 or 8. Returns nil if the
    /// file is damaged.
    ///
    /// Each pixel of a smaller picture is the mean of the pixels that it covers. The decoder ignores bytes after the
    /// end of the image.
    public func decoded(eighths: Int) -> BaselinePixels? {
        guard eighths == 1 || eighths == 2 || eighths == 4 || eighths == 8 else { return nil }
        guard let scan = ScanWords(bytes, from: header.scanStart, intervals: header.intervals) else { return nil }
        // A block takes at least two bits: its first coefficient and its end. So a few bytes cannot claim the memory
        // of a large picture.
        guard scan.bits / 2 >= header.blocks else { return nil }
        return ScanDecoder(header, eighths: eighths).decode(scan)
    }
}

/// A decoded picture.
///
///     let top = pixels.bytes[..<(3 * pixels.width)]  // the first row: red, green, blue, red, ...
public struct BaselinePixels: Sendable {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// The RGB bytes, three per pixel, in rows from the top without padding.
    public let bytes: [UInt8]
}
