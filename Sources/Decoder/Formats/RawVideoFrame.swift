import CVideo
import Pixels

/// Scales a video's frame and converts it to RGB.
///
/// This type scales luma and chroma before the conversion. So it converts only the few pixels of the output, and makes
/// no frame of full size in RGB. For a frame of 1,920 × 1,080 pixels, this saves ten times as much work as the scaling
/// needs.
struct RawVideoFrame {
    private let picture: cvideo_picture

    /// Creates a frame from libavcodec's memory. The frame is valid until its reader decodes another frame.
    init(_ picture: cvideo_picture) {
        self.picture = picture
    }

    /// The frame's size in stored pixels.
    var size: PixelSize { PixelSize(width: Int(picture.width), height: Int(picture.height)) }

    /// Returns a reply with the frame, scaled as planned. The frame may be larger or smaller than the plan's picture.
    func reply(by plan: DecodePlan, _ facts: PictureFacts, isComplete: Bool) -> DecodeReply {
        var rows = rows(of: plan.region(of: size), as: plan.output)
        if let conversion { rows.withUnsafeMutableBufferPointer { conversion.convert($0, channels: 3) } }
        return plan.reply(facts, rows: rows, isComplete: isComplete)
    }

    /// The mean luma of the frame, from 0 for black to 1 for white.
    var brightness: Double {
        let side = PixelSize(width: min(size.width, 16), height: min(size.height, 16))
        var luma = luma(of: PixelRect(whole: size), as: side)
        var sum = 0
        for row in 0..<side.height {
            luma.scale(to: row)
            sum += luma.row.reduce(0) { $0 + Int($1) }
        }
        let levels = YUVLevels(picture)
        let mean = Double(sum) / Double(side.width * side.height) / 256
        return max(0, min((mean - Double(levels.black)) / Double(levels.white - levels.black), 1))
    }

    /// The conversion of the colours to sRGB; nil if none is needed. Vitrine treats the usual primaries and transfer
    /// functions of television as sRGB.
    private var conversion: ColourConversion? {
        let isHigh = [ColourConversion.TransferNumber.pq, ColourConversion.TransferNumber.hlg]
            .contains(Int(picture.transfer))
        let unknown: Int32 = 2
        guard isHigh || picture.primaries == 9 || picture.primaries == 12 else { return nil }
        return ColourConversion(
            transfer: picture.transfer == unknown ? 1 : Int(picture.transfer),
            primaries: picture.primaries == unknown ? 9 : Int(picture.primaries))
    }

    private func luma(of region: PixelRect, as output: PixelSize) -> PlaneFilter {
        PlaneFilter(
            picture.planes.0, picture.strides.0, depth: Int(picture.depth), source: size, region: region,
            output: output)
    }

    /// Returns the filters for both planes of chroma. The sides of these planes are rounded up, because an odd last
    /// column or row also has chroma.
    private func chroma(of region: PixelRect, as output: PixelSize) -> (PlaneFilter, PlaneFilter) {
        let (across, down) = (1 << Int(picture.shift_across), 1 << Int(picture.shift_down))
        let source = PixelSize(width: (size.width + across - 1) / across, height: (size.height + down - 1) / down)
        let part = PixelRect(
            x: region.x / Double(across), y: region.y / Double(down), width: region.width / Double(across),
            height: region.height / Double(down))
        func filter(_ plane: UnsafePointer<UInt8>?, _ stride: Int) -> PlaneFilter {
            PlaneFilter(plane, stride, depth: Int(picture.depth), source: source, region: part, output: output)
        }
        return (filter(picture.planes.1, picture.strides.1), filter(picture.planes.2, picture.strides.2))
    }

    /// Returns the output in RGB.
    private func rows(of region: PixelRect, as output: PixelSize) -> [UInt8] {
        let levels = YUVLevels(picture)
        var luma = luma(of: region, as: output)
        var chroma = picture.count == 3 ? chroma(of: region, as: output) : nil
        let grey = [UInt16](repeating: 128 << 8, count: output.width)
        let length = output.width * PixelBuffer.bytesPerPixel
        return [UInt8](unsafeUninitializedCapacity: length * output.height) { bytes, count in
            for row in 0..<output.height {
                luma.scale(to: row)
                chroma?.0.scale(to: row)
                chroma?.1.scale(to: row)
                levels.convert(
                    luma.row, chroma?.0.row ?? grey, chroma?.1.row ?? grey,
                    to: UnsafeMutableBufferPointer(rebasing: bytes[row * length..<(row + 1) * length]))
            }
            count = length * output.height
        }
    }
}

/// Scales one plane of samples like `AreaFilter`: each output sample is the mean of the area that it covers.
///
/// The filter first adds up rows, in loops that the compiler vectorises. Then it reduces the few sums horizontally.
struct PlaneFilter {
    /// The source samples that one output sample covers along one side. Their weights add up to 2¹⁶.
    private struct Span: Equatable {
        let first: Int32
        let last: Int32
        let firstWeight: UInt32
        let betweenWeight: UInt32
        let lastWeight: UInt32

        private static let whole: UInt32 = 1 << 16

        init(_ index: Int, on axis: AreaAxis) {
            let (start, end) = (axis.boundary(index), axis.boundary(index + 1))
            let first = min(Int(start), axis.sourceCount - 1)
            let last = max(first, min(Int(end.rounded(.up)) - 1, axis.sourceCount - 1))
            (self.first, self.last) = (Int32(first), Int32(last))
            guard last > first else {
                (firstWeight, betweenWeight, lastWeight) = (Self.whole, 0, 0)
                return
            }
            // The weights are rounded down. The first sample gets the remainder.
            let each = Double(Self.whole) / (end - start)
            betweenWeight = last > first + 1 ? UInt32(each) : 0
            lastWeight = UInt32(min((end - Double(last)) * each, Double(Self.whole)))
            firstWeight = Self.whole - UInt32(last - first - 1) * betweenWeight - lastWeight
        }
    }

    private let plane: UnsafePointer<UInt8>?
    private let stride: Int
    private let depth: Int
    private let rows: [Span]
    private let columns: [Span]
    /// The source columns that the output needs.
    private let touched: Range<Int>
    private var sums: [UInt32]

    /// The row scaled last, in units of 1/256 of an 8-bit value.
    private(set) var row: [UInt16]

    /// Creates a filter that scales `region` of a plane to `output`. Limits the region to the plane.
    ///
    /// - Parameters:
    ///   - plane: the samples, with as many rows as `source` has. The filter reads only these rows.
    ///   - stride: the number of bytes from a row to the next one. It may be negative.
    ///   - depth: the number of bits of a sample, 8 to 12. Above 8, samples have two bytes.
    init(
        _ plane: UnsafePointer<UInt8>?, _ stride: Int, depth: Int, source: PixelSize, region: PixelRect,
        output: PixelSize
    ) {
        (self.plane, self.stride, self.depth) = (plane, stride, depth)
        let across = AreaAxis(start: region.x, length: region.width, sourceCount: source.width, count: output.width)
        let down = AreaAxis(start: region.y, length: region.height, sourceCount: source.height, count: output.height)
        columns = (0..<output.width).map { Span($0, on: across) }
        rows = (0..<output.height).map { Span($0, on: down) }
        touched = Int(columns.first?.first ?? 0)..<Int(columns.last?.last ?? 0) + 1
        sums = Array(repeating: 0, count: touched.count)
        row = Array(repeating: 0, count: columns.count)
    }

    /// Scales the source to one row of the output. Call this method for all rows in order, because it reuses the
    /// previous row.
    mutating func scale(to index: Int) {
        let span = rows[index]
        // When a picture is enlarged, several output rows have the same span. Scale such rows only once.
        guard let plane, index == 0 || span != rows[index - 1] else { return }
        sums.withUnsafeMutableBufferPointer { sums in
            let sample = depth > 8 ? MemoryLayout<UInt16>.size : MemoryLayout<UInt8>.size
            let start = UnsafeRawPointer(plane) + touched.lowerBound * sample
            if depth > 8 {
                Self.add(span, start, stride, depth, to: sums, as: UInt16.self)
            } else {
                Self.add(span, start, stride, depth, to: sums, as: UInt8.self)
            }
        }
        sums.withUnsafeBufferPointer { sums in
            columns.withUnsafeBufferPointer { columns in
                row.withUnsafeMutableBufferPointer { row in
                    Self.reduce(sums, columns, from: touched.lowerBound, to: row)
                }
            }
        }
    }

    /// Computes each column's mean over the rows of a span. The means are in units of 1/256 of an 8-bit value. The
    /// weighted sums have 16 bits more than a sample, at most 28.
    @inline(__always)
    private static func add<Sample: FixedWidthInteger & UnsignedInteger>(
        _ span: Span, _ start: UnsafeRawPointer, _ stride: Int, _ depth: Int,
        to sums: UnsafeMutableBufferPointer<UInt32>, as kind: Sample.Type
    ) {
        func row(_ index: Int) -> UnsafePointer<Sample> {
            (start + index * stride).assumingMemoryBound(to: Sample.self)
        }
        guard let target = sums.baseAddress else { return }
        let shift = UInt32(depth)
        let half: UInt32 = 1 << (shift - 1)
        let (firstRow, lastRow) = (Int(span.first), Int(span.last))
        let (first, last) = (row(firstRow), row(lastRow))
        if lastRow - firstRow > 1 {
            let second = row(firstRow + 1)
            for column in 0..<sums.count { target[column] = UInt32(truncatingIfNeeded: second[column]) }
            for index in firstRow + 2..<max(firstRow + 2, lastRow) {
                let between = row(index)
                for column in 0..<sums.count { target[column] &+= UInt32(truncatingIfNeeded: between[column]) }
            }
        }
        let hasBetween = lastRow - firstRow > 1
        for column in 0..<sums.count {
            let between = hasBetween ? target[column] &* span.betweenWeight : 0
            let sum =
                between &+ UInt32(truncatingIfNeeded: first[column]) &* span.firstWeight
                &+ UInt32(truncatingIfNeeded: last[column]) &* span.lastWeight
            target[column] = (sum &+ half) &>> shift
        }
    }

    /// Reduces one row of means to output samples. The first mean is that of the source column `column`. A mean has 16
    /// bits, and the weights add up to 2¹⁶. So the sums fit 32 bits.
    private static func reduce(
        _ means: UnsafeBufferPointer<UInt32>, _ columns: UnsafeBufferPointer<Span>, from column: Int,
        to output: UnsafeMutableBufferPointer<UInt16>
    ) {
        guard let target = output.baseAddress, let start = means.baseAddress else { return }
        let source = start - column
        for (index, span) in columns.enumerated() {
            let (first, last) = (Int(span.first), Int(span.last))
            var sum = source[first] &* span.firstWeight &+ source[last] &* span.lastWeight
            if span.betweenWeight > 0 {
                var between: UInt32 = 0
                for place in first + 1..<last { between &+= source[place] }
                sum &+= between &* span.betweenWeight
            }
            target[index] = UInt16(truncatingIfNeeded: (min(sum, 0xFFFF_7FFF) &+ 0x8000) &>> 16)
        }
    }
}

/// Converts luma and chroma to RGB, according to ITU-T H.273.
private struct YUVLevels {
    /// The luma of black and white, in 8 bits.
    let black: Int32
    let white: Int32
    /// The factors of luma, and of chroma in red, green and blue. They are in units of 1/8192.
    private let luma: Int32
    private let red: Int32
    private let green: (Int32, Int32)
    private let blue: Int32
    /// Whether the three planes are red, green and blue.
    private let isRGB: Bool

    /// The shares of red and blue in luma.
    private static let bt601 = (0.299, 0.114)
    private static let bt709 = (0.2126, 0.0722)
    private static let bt2020 = (0.2627, 0.0593)

    init(_ picture: cvideo_picture) {
        isRGB = picture.is_rgb != 0
        let isFull = picture.is_full_range != 0 || isRGB
        (black, white) = isFull ? (0, 255) : (16, 235)
        let (kr, kb) =
            switch picture.matrix {
            case 1: Self.bt709
            case 4, 5, 6: Self.bt601
            case 7: (0.212, 0.087)
            case 9, 10: Self.bt2020
            // If the matrix is not stated, players assume the matrix of high definition for large frames.
            default: picture.height >= 720 || picture.width >= 1280 ? Self.bt709 : Self.bt601
            }
        let (scale, chroma) = isFull ? (1.0, 1.0) : (255.0 / 219, 255.0 / 224)
        func fixed(_ number: Double) -> Int32 { Int32((number * 8192).rounded()) }
        luma = fixed(scale)
        red = fixed(2 * (1 - kr) * chroma)
        blue = fixed(2 * (1 - kb) * chroma)
        let rest = 1 - kr - kb
        green = (fixed(2 * (1 - kb) * kb / rest * chroma), fixed(2 * (1 - kr) * kr / rest * chroma))
    }

    /// Converts samples to the same number of RGB pixels. The samples are in units of 1/256.
    func convert(
        _ luma: [UInt16], _ first: [UInt16], _ second: [UInt16], to output: UnsafeMutableBufferPointer<UInt8>
    ) {
        let count = min(luma.count, first.count, second.count, output.count / PixelBuffer.bytesPerPixel)
        guard var target = output.baseAddress else { return }
        luma.withUnsafeBufferPointer { luma in
            first.withUnsafeBufferPointer { first in
                second.withUnsafeBufferPointer { second in
                    for index in 0..<count {
                        if isRGB {
                            target[0] = Self.byte(luma[index])
                            target[1] = Self.byte(first[index])
                            target[2] = Self.byte(second[index])
                            target += PixelBuffer.bytesPerPixel
                            continue
                        }
                        // In units of 1/16, so that all products fit 32 bits.
                        let y = (Int32(luma[index]) &>> 4 &- black &<< 4) &* self.luma
                        let u = Int32(first[index]) &>> 4 &- 128 &<< 4
                        let v = Int32(second[index]) &>> 4 &- 128 &<< 4
                        target[0] = Self.byte(y &+ v &* red)
                        target[1] = Self.byte(y &- u &* green.0 &- v &* green.1)
                        target[2] = Self.byte(y &+ u &* blue)
                        target += PixelBuffer.bytesPerPixel
                    }
                }
            }
        }
    }

    @inline(__always)
    private static func byte(_ sample: UInt16) -> UInt8 {
        UInt8(truncatingIfNeeded: (min(sample, 0xFF7F) &+ 0x80) &>> 8)
    }

    @inline(__always)
    private static func byte(_ sum: Int32) -> UInt8 {
        UInt8(truncatingIfNeeded: max(0, min((sum &+ 1 &<< 16) &>> 17, 255)))
    }
}
