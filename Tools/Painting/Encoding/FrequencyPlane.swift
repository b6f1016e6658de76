/// One component of a picture, transformed to frequencies in blocks of eight by eight.
struct FrequencyPlane: Sendable {
    /// Blocks in a row, including those that pad the last interleaved group.
    let columns: Int

    /// Rows of blocks.
    let rows: Int

    /// The sampling factor: blocks per interleaved group in each direction.
    let factor: Int

    /// Sixty-four coefficients per block, row by row, not rounded.
    private(set) var waves: [Float]

    /// The components of a JPEG file with the given sampling.
    static func planes(of raster: Raster, sampling: JPEGWriter.Sampling) -> [FrequencyPlane] {
        let pixels = stride(from: 0, to: raster.bytes.count, by: 3).map { at in
            Vec3(Float(raster.bytes[at]), Float(raster.bytes[at + 1]), Float(raster.bytes[at + 2]))
        }
        func component(_ weights: Vec3, _ middle: Float) -> [Float] {
            pixels.map { dot($0, weights) + middle }
        }
        let luma = component(Vec3(0.299, 0.587, 0.114), -128)
        let (width, height) = (raster.width, raster.height)
        if sampling == .grey {
            return [FrequencyPlane(luma, width: width, height: height, factor: 1)]
        }
        let group = sampling == .halved ? 2 : 1
        let blue = component(Vec3(-0.168_735_9, -0.331_264_1, 0.5), 0)
        let red = component(Vec3(0.5, -0.418_687_6, -0.081_312_4), 0)
        let chroma = [blue, red].map { values in
            let (small, smallWidth, smallHeight) =
                group == 2 ? halved(values, width, height) : (values, width, height)
            return FrequencyPlane(small, width: smallWidth, height: smallHeight, factor: 1)
        }
        return [FrequencyPlane(luma, width: width, height: height, factor: group)] + chroma
    }

    private init(_ values: [Float], width: Int, height: Int, factor: Int) {
        let span = 8 * factor
        columns = (width + span - 1) / span * factor
        rows = (height + span - 1) / span * factor
        self.factor = factor
        waves = [Float](repeating: 0, count: columns * rows * 64)
        let basis = Self.basis()
        var block = [Float](repeating: 0, count: 64)
        for row in 0..<rows {
            for column in 0..<columns {
                for y in 0..<8 {
                    // Outside the picture its last pixels are repeated, which costs the fewest bits.
                    let line = min(row * 8 + y, height - 1) * width
                    for x in 0..<8 {
                        block[y * 8 + x] = values[line + min(column * 8 + x, width - 1)]
                    }
                }
                transform(&block, basis)
                let start = (row * columns + column) * 64
                for index in 0..<64 { waves[start + index] = block[index] }
            }
        }
    }

    /// Transforms a block, first its rows and then its columns.
    private func transform(_ block: inout [Float], _ basis: [Float]) {
        var half = [Float](repeating: 0, count: 64)
        for line in 0..<8 {
            for wave in 0..<8 {
                var sum: Float = 0
                for x in 0..<8 { sum += block[line * 8 + x] * basis[wave * 8 + x] }
                half[line * 8 + wave] = sum
            }
        }
        for column in 0..<8 {
            for wave in 0..<8 {
                var sum: Float = 0
                for y in 0..<8 { sum += half[y * 8 + column] * basis[wave * 8 + y] }
                block[wave * 8 + column] = sum
            }
        }
    }

    /// Eight cosine waves at eight positions each, scaled so that the transform preserves lengths.
    private static func basis() -> [Float] {
        (0..<64).map { index in
            let wave = Float(index / 8)
            let place = Float(index % 8)
            let scale: Float = index < 8 ? 0.353_553_39 : 0.5
            return scale * cos((2 * place + 1) * wave * Float.pi / 16)
        }
    }

    /// Averages each two by two values.
    private static func halved(_ values: [Float], _ width: Int, _ height: Int) -> ([Float], Int, Int) {
        let newWidth = (width + 1) / 2
        let newHeight = (height + 1) / 2
        var result: [Float] = []
        result.reserveCapacity(newWidth * newHeight)
        for y in 0..<newHeight {
            let upper = 2 * y * width
            let lower = min(2 * y + 1, height - 1) * width
            for x in 0..<newWidth {
                let left = 2 * x
                let right = min(2 * x + 1, width - 1)
                let sum =
                    values[upper + left] + values[upper + right] + values[lower + left]
                    + values[lower + right]
                result.append(sum / 4)
            }
        }
        return (result, newWidth, newHeight)
    }
}
