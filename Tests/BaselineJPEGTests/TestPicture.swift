import Foundation

/// A reference picture in floating-point RGB.
struct TestPicture {
    let width: Int
    let height: Int
    /// Three numbers per pixel, 0...255.
    let values: [Double]

    /// Soft waves of colour with little detail, away from black and white.
    static func waves(width: Int, height: Int, isGrey: Bool = false) -> TestPicture {
        var values: [Double] = []
        for y in 0..<height {
            for x in 0..<width {
                let (u, v) = (Double(x), Double(y))
                let red = 128 + 60 * sin(u / 17 + 0.5) * cos(v / 23)
                let green = 128 + 50 * cos((u + v) / 29)
                let blue = 120 + 55 * sin((u - 2 * v) / 37)
                values += isGrey ? [red, red, red] : [red, green, blue]
            }
        }
        return TestPicture(width: width, height: height, values: values)
    }

    /// Returns a pixel; outside, the nearest edge's.
    func pixel(_ x: Int, _ y: Int) -> (red: Double, green: Double, blue: Double) {
        let start = 3 * (min(y, height - 1) * width + min(x, width - 1))
        return (values[start], values[start + 1], values[start + 2])
    }

    /// Returns the picture at `eighths`/8 of its size, averaged.
    func scaled(eighths: Int) -> TestPicture {
        let side = 8 / eighths
        let (smallWidth, smallHeight) = ((width + side - 1) / side, (height + side - 1) / side)
        var small: [Double] = []
        for y in 0..<smallHeight {
            for x in 0..<smallWidth {
                var sums = (0.0, 0.0, 0.0)
                for down in 0..<side {
                    for across in 0..<side {
                        let (red, green, blue) = pixel(x * side + across, y * side + down)
                        sums = (sums.0 + red, sums.1 + green, sums.2 + blue)
                    }
                }
                let area = Double(side * side)
                small += [sums.0 / area, sums.1 / area, sums.2 / area]
            }
        }
        return TestPicture(width: smallWidth, height: smallHeight, values: small)
    }

    /// Returns the peak signal-to-noise ratio of a copy.
    func decibels(_ bytes: [UInt8]) -> Double {
        guard bytes.count == values.count else { return 0 }
        let squares = zip(values, bytes).reduce(0) { $0 + ($1.0 - Double($1.1)) * ($1.0 - Double($1.1)) }
        return 10 * log10(255 * 255 / max(squares / Double(values.count), 1e-9))
    }
}
