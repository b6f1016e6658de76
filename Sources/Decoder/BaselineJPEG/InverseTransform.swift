/// Turns a block's coefficients into samples with the inverse DCT (T.81, A.3.3). The result's width and height are 1,
/// 2, 4 or 8 samples, independently of each other. Each sample is the mean of the full-size samples that it covers.
///
/// The type transforms columns, then rows, in fixed point; `Butterfly` describes the arithmetic. If a calculation
/// overflows, the number wraps. No encoder produces such large coefficients, and malicious coefficients give only wrong
/// samples.
struct InverseTransform {
    /// A block's coefficients, row by row. All are 0 between blocks.
    var coefficients = [Int32](repeating: 0, count: 64)
    /// The transformed columns, in units of ¼. Each row has eight numbers. Only as many rows are valid as the output
    /// has.
    private var columns = [Int32](repeating: 0, count: 64)

    /// The number of fractional bits in `columns`.
    private static let columnBits: Int32 = 2
    /// The number of fractional bits to drop after the row transform. Three of these bits remove a factor of 8, because
    /// the column transform and the row transform each multiply by 2√2.
    private static let rowShift = Butterfly.bits + columnBits + 3
    /// The number 128, which the encoder subtracts before the DCT (T.81, A.3.1), plus ½ for rounding.
    private static let rowBias: Int32 = 128 << rowShift + 1 << (rowShift - 1)

    /// Writes the block's samples to a plane, from `start` on, and clears the coefficients.
    ///
    /// - Parameter present: a bit for each coefficient that may be nonzero, always including the first.
    mutating func transform(
        _ present: UInt64, width: Int, height: Int, to plane: inout [UInt8], at start: Int, stride: Int
    ) {
        if present == 1 {
            let sample = Self.sample(ofFirst: coefficients[0])
            coefficients[0] = 0
            for row in 0..<height {
                let rowStart = start &+ row &* stride
                for column in 0..<width { plane[rowStart &+ column] = sample }
            }
            return
        }
        // The compiler makes special machine code for the usual sizes.
        switch (width, height) {
        case (2, 2): transformToFour(to: &plane, at: start, stride)
        case (4, 4): transformAll(present, 4, 4, to: &plane, at: start, stride)
        case (8, 8): transformAll(present, 8, 8, to: &plane, at: start, stride)
        default: transformAll(present, width, height, to: &plane, at: start, stride)
        }
        for index in 0..<64 { coefficients[index] = 0 }
    }

    /// Writes a block of 2 × 2 samples, the most frequent size for small pictures. A test for empty columns would take
    /// longer than the few multiplications.
    @inline(__always)
    private func transformToFour(to plane: inout [UInt8], at start: Int, _ stride: Int) {
        let column0 = twoOfColumn(0)
        let column1 = twoOfColumn(1)
        let column3 = twoOfColumn(3)
        let column5 = twoOfColumn(5)
        let column7 = twoOfColumn(7)
        let bias = Self.rowBias &>> Butterfly.bits
        let upper = Butterfly.two(column0.0 &+ bias, column1.0, column3.0, column5.0, column7.0)
        let lower = Butterfly.two(column0.1 &+ bias, column1.1, column3.1, column5.1, column7.1)
        plane[start] = Self.sample(upper.0)
        plane[start &+ 1] = Self.sample(upper.1)
        plane[start &+ stride] = Self.sample(lower.0)
        plane[start &+ stride &+ 1] = Self.sample(lower.1)
    }

    @inline(__always)
    private func twoOfColumn(_ column: Int) -> (Int32, Int32) {
        let sums = Butterfly.two(
            coefficients[column], coefficients[column &+ 8], coefficients[column &+ 24], coefficients[column &+ 40],
            coefficients[column &+ 56])
        return (Self.columnSample(sums.0), Self.columnSample(sums.1))
    }

    @inline(__always)
    private mutating func transformAll(
        _ present: UInt64, _ width: Int, _ height: Int, to plane: inout [UInt8], at start: Int, _ stride: Int
    ) {
        transformColumns(present, width: width, height: height)
        for row in 0..<height {
            transformRow(8 &* row, width: width, to: &plane, at: start &+ row &* stride)
        }
    }

    /// Returns the sample value of a block that has only its first coefficient.
    @inline(__always)
    static func sample(ofFirst coefficient: Int32) -> UInt8 {
        sample(coefficient &<< (rowShift &- 3) &+ rowBias)
    }

    @inline(__always)
    private static func sample(_ sum: Int32) -> UInt8 {
        UInt8(truncatingIfNeeded: max(0, min(255, sum &>> rowShift)))
    }

    @inline(__always)
    private mutating func transformColumns(_ present: UInt64, width: Int, height: Int) {
        for column in 0..<8 {
            // Skip columns that the row transform does not use.
            if width == 1 && column > 0 || width == 2 && column & 1 == 0 && column > 0 || width == 4 && column == 4 {
                continue
            }
            let first = coefficients[column]
            if height == 1 || (present &>> UInt64(column)) & 0x0101_0101_0101_0100 == 0 {
                let value = first &<< Self.columnBits
                for row in 0..<height { columns[8 &* row &+ column] = value }
                continue
            }
            switch height {
            case 8:
                let result = Butterfly.eight(
                    first, coefficients[column &+ 8], coefficients[column &+ 16], coefficients[column &+ 24],
                    coefficients[column &+ 32], coefficients[column &+ 40], coefficients[column &+ 48],
                    coefficients[column &+ 56])
                setColumn(column, result.0)
                setColumn(column &+ 8, result.1)
                setColumn(column &+ 16, result.2)
                setColumn(column &+ 24, result.3)
                setColumn(column &+ 32, result.4)
                setColumn(column &+ 40, result.5)
                setColumn(column &+ 48, result.6)
                setColumn(column &+ 56, result.7)
            case 4:
                let result = Butterfly.four(
                    first, coefficients[column &+ 8], coefficients[column &+ 16], coefficients[column &+ 24],
                    coefficients[column &+ 40], coefficients[column &+ 48], coefficients[column &+ 56])
                setColumn(column, result.0)
                setColumn(column &+ 8, result.1)
                setColumn(column &+ 16, result.2)
                setColumn(column &+ 24, result.3)
            default:
                let result = Butterfly.two(
                    first, coefficients[column &+ 8], coefficients[column &+ 24], coefficients[column &+ 40],
                    coefficients[column &+ 56])
                setColumn(column, result.0)
                setColumn(column &+ 8, result.1)
            }
        }
    }

    @inline(__always)
    private mutating func setColumn(_ index: Int, _ value: Int32) {
        columns[index] = Self.columnSample(value)
    }

    @inline(__always)
    private static func columnSample(_ sum: Int32) -> Int32 {
        let shift = Butterfly.bits - columnBits
        return (sum &+ 1 &<< (shift - 1)) &>> shift
    }

    @inline(__always)
    private func transformRow(_ row: Int, width: Int, to plane: inout [UInt8], at start: Int) {
        let first = columns[row] &+ (Self.rowBias &>> Butterfly.bits)
        switch width {
        case 8:
            let result = Butterfly.eight(
                first, columns[row &+ 1], columns[row &+ 2], columns[row &+ 3], columns[row &+ 4],
                columns[row &+ 5], columns[row &+ 6], columns[row &+ 7])
            plane[start] = Self.sample(result.0)
            plane[start &+ 1] = Self.sample(result.1)
            plane[start &+ 2] = Self.sample(result.2)
            plane[start &+ 3] = Self.sample(result.3)
            plane[start &+ 4] = Self.sample(result.4)
            plane[start &+ 5] = Self.sample(result.5)
            plane[start &+ 6] = Self.sample(result.6)
            plane[start &+ 7] = Self.sample(result.7)
        case 4:
            let result = Butterfly.four(
                first, columns[row &+ 1], columns[row &+ 2], columns[row &+ 3], columns[row &+ 5],
                columns[row &+ 6], columns[row &+ 7])
            plane[start] = Self.sample(result.0)
            plane[start &+ 1] = Self.sample(result.1)
            plane[start &+ 2] = Self.sample(result.2)
            plane[start &+ 3] = Self.sample(result.3)
        case 2:
            let result = Butterfly.two(
                first, columns[row &+ 1], columns[row &+ 3], columns[row &+ 5], columns[row &+ 7])
            plane[start] = Self.sample(result.0)
            plane[start &+ 1] = Self.sample(result.1)
        default:
            plane[start] = Self.sample(first &<< Butterfly.bits)
        }
    }
}

/// The one-dimensional transform of eight coefficients to eight, four or two samples.
///
/// With T.81's transform (A.3.3) multiplied by 2√2 the samples are
///
///     s(n) = X0 + Σ √2 cos((2n + 1) k π/16) Xk,  k = 1 ... 7
///
/// So the factors of X0 and X4 are 1 or −1. For the samples n and 7 − n, the sums over even k are equal, and the sums
/// over odd k differ only in their sign. For the mean of two neighbouring samples, only the factors differ:
///
///     √2 cos(k π/16) cos((4n + 2) k π/16)
///
/// Here, the factor of X4 is 0. For the mean of four neighbouring samples, the factors of X2 and X6 are also 0:
///
///     √2 cos(k π/16) cos(2 k π/16) cos((8n + 4) k π/16)
///
/// All factors, and so the results, are in units of 1/8192.
enum Butterfly {
    static let bits: Int32 = 13

    @inline(__always)
    static func eight(
        _ x0: Int32, _ x1: Int32, _ x2: Int32, _ x3: Int32, _ x4: Int32, _ x5: Int32, _ x6: Int32, _ x7: Int32
    ) -> (Int32, Int32, Int32, Int32, Int32, Int32, Int32, Int32) {
        let sum = (x0 &+ x4) &<< bits
        let difference = (x0 &- x4) &<< bits
        let outer = x2 &* 10703 &+ x6 &* 4433
        let inner = x2 &* 4433 &- x6 &* 10703
        let (even0, even1, even2, even3) = (sum &+ outer, difference &+ inner, difference &- inner, sum &- outer)
        let odd0 = x1 &* 11363 &+ x3 &* 9633 &+ x5 &* 6436 &+ x7 &* 2260
        let odd1 = x1 &* 9633 &- x3 &* 2260 &- x5 &* 11363 &- x7 &* 6436
        let odd2 = x1 &* 6436 &- x3 &* 11363 &+ x5 &* 2260 &+ x7 &* 9633
        let odd3 = x1 &* 2260 &- x3 &* 6436 &+ x5 &* 9633 &- x7 &* 11363
        return (
            even0 &+ odd0, even1 &+ odd1, even2 &+ odd2, even3 &+ odd3,
            even3 &- odd3, even2 &- odd2, even1 &- odd1, even0 &- odd0
        )
    }

    @inline(__always)
    static func four(
        _ x0: Int32, _ x1: Int32, _ x2: Int32, _ x3: Int32, _ x5: Int32, _ x6: Int32, _ x7: Int32
    ) -> (Int32, Int32, Int32, Int32) {
        let mean = x0 &<< bits
        let slope = x2 &* 7568 &- x6 &* 3135
        let odd0 = x1 &* 10498 &+ x3 &* 3686 &- x5 &* 2463 &- x7 &* 2088
        let odd1 = x1 &* 4348 &- x3 &* 8900 &+ x5 &* 5946 &- x7 &* 865
        return (mean &+ slope &+ odd0, mean &- slope &+ odd1, mean &- slope &- odd1, mean &+ slope &- odd0)
    }

    @inline(__always)
    static func two(_ x0: Int32, _ x1: Int32, _ x3: Int32, _ x5: Int32, _ x7: Int32) -> (Int32, Int32) {
        let mean = x0 &<< bits
        let odd = x1 &* 7423 &- x3 &* 2607 &+ x5 &* 1742 &- x7 &* 1477
        return (mean &+ odd, mean &- odd)
    }
}
