import Foundation

/// Writes simple baseline JPEG files with the tables of T.81, annex K, and invalid variants.
struct JPEGWriter {
    var isGrey = false
    /// The sampling factors of luma; those of chroma are 1.
    var across = 1
    var down = 1
    /// MCUs between restart markers; 0 for none.
    var restartInterval = 0
    /// A factor for the quantisation tables K.1 and K.2, and whether they have 16 bits.
    var coarseness = 0.2
    var isWide = false
    /// False claims, for files that must be declined.
    var frameMarker: UInt8 = 0xC0
    var precision: UInt8 = 8
    var identifiers: [UInt8] = [1, 2, 3]
    var componentCount: UInt8?
    var chromaFactors: UInt8 = 0x11
    var size: (width: Int, height: Int)?
    /// Whole segments to insert after SOI.
    var segments: [[UInt8]] = []
    /// The marker segments to omit.
    var omitted: Set<UInt8> = []
    /// The last coefficient of the scan.
    var spectralEnd: UInt8 = 63

    private static let zigzag: [Int] = [
        0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14,
        21,
        28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61,
        54, 47, 55, 62, 63,
    ]
    private static let lumaSteps: [Double] = [
        16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29,
        51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121,
        120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
    ]
    private static let chromaSteps: [Double] =
        [
            17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99,
            99,
            99, 99, 99, 99,
        ] + Array(repeating: 99, count: 32)
    private static let cosines: [Double] = (0..<64).map { index in
        let (frequency, place) = (index / 8, index % 8)
        return cos(Double((2 * place + 1) * frequency) * .pi / 16) * (frequency == 0 ? 0.5.squareRoot() : 1) / 2
    }

    /// Returns the file.
    func file(_ picture: TestPicture) -> [UInt8] {
        let steps = [Self.lumaSteps, Self.chromaSteps].map { $0.map { max(1, ($0 * coarseness).rounded()) } }
        var file: [UInt8] = [0xFF, 0xD8] + segments.flatMap(\.self)
        func add(_ marker: UInt8, _ body: [UInt8]) {
            guard !omitted.contains(marker) else { return }
            file += [0xFF, marker, UInt8((body.count + 2) >> 8), UInt8((body.count + 2) & 255)] + body
        }
        add(0xE0, Array("JFIF".utf8) + [0, 1, 1, 0, 0, 1, 0, 1, 0, 0])
        for (number, table) in steps.enumerated() where !(isGrey && number == 1) {
            let values = Self.zigzag.map { Int(table[$0]) }
            add(0xDB, [UInt8(number) | (isWide ? 16 : 0)] + values.flatMap { isWide ? [0, UInt8($0)] : [UInt8($0)] })
        }
        let (width, height) = size ?? (picture.width, picture.height)
        let count = componentCount ?? (isGrey ? 1 : 3)
        var frame = [precision, UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255), count]
        for component in 0..<Int(count) {
            let factors = component == 0 ? UInt8(across << 4 | down) : chromaFactors
            frame += [component < 3 ? identifiers[component] : 4, factors, component == 0 ? 0 : 1]
        }
        add(frameMarker, frame)
        let codes: [(UInt8, StandardCode)] = [
            (0x00, .firstOfLuma), (0x10, .otherOfLuma), (0x01, .firstOfChroma), (0x11, .otherOfChroma),
        ]
        add(0xC4, codes.prefix(isGrey ? 2 : 4).flatMap { [$0.0] + $0.1.counts + $0.1.symbols })
        if restartInterval > 0 { add(0xDD, [UInt8(restartInterval >> 8), UInt8(restartInterval & 255)]) }
        var scan = [count]
        for component in 0..<Int(count) {
            scan += [component < 3 ? identifiers[component] : 4, component == 0 ? 0 : 0x11]
        }
        add(0xDA, scan + [0, spectralEnd, 0])
        return file + entropyCoded(picture, steps) + [0xFF, 0xD9]
    }

    private func entropyCoded(_ picture: TestPicture, _ steps: [[Double]]) -> [UInt8] {
        let (blocksAcross, blocksDown) = isGrey ? (1, 1) : (max(1, across), down)
        let columns = (picture.width + 8 * blocksAcross - 1) / (8 * blocksAcross)
        let rows = (picture.height + 8 * blocksDown - 1) / (8 * blocksDown)
        var bits = EntropyBits()
        var predictions = [0, 0, 0]
        for unit in 0..<columns * rows {
            if restartInterval > 0, unit > 0, unit % restartInterval == 0 {
                bits.restart()
                predictions = [0, 0, 0]
            }
            for component in 0..<(isGrey ? 1 : 3) {
                let (horizontal, vertical) = component == 0 ? (blocksAcross, blocksDown) : (1, 1)
                for block in 0..<horizontal * vertical {
                    let x = ((unit % columns) * horizontal + block % horizontal) * 8
                    let y = ((unit / columns) * vertical + block / horizontal) * 8
                    let samples = samples(
                        picture, component, x, y, blocksAcross / horizontal, blocksDown / vertical)
                    let coefficients = Self.transformed(samples, steps[min(component, 1)])
                    let isLuma = component == 0
                    bits.add(
                        coefficients, &predictions[component], isLuma ? .firstOfLuma : .firstOfChroma,
                        isLuma ? .otherOfLuma : .otherOfChroma)
                }
            }
        }
        bits.fill()
        return bits.bytes
    }

    /// Returns a block of one component: means of several pixels, minus 128.
    private func samples(
        _ picture: TestPicture, _ component: Int, _ x: Int, _ y: Int, _ width: Int, _ height: Int
    ) -> [Double] {
        (0..<64).map { index in
            var sum = 0.0
            for pixel in 0..<width * height {
                let (red, green, blue) = picture.pixel(
                    (x + index % 8) * width + pixel % width, (y + index / 8) * height + pixel / width)
                let luma = 0.299 * red + 0.587 * green + 0.114 * blue
                sum += component == 0 ? luma - 128 : component == 1 ? (blue - luma) / 1.772 : (red - luma) / 1.402
            }
            return sum / Double(width * height)
        }
    }

    /// The forward DCT (A.3.3), quantised, in zigzag order.
    private static func transformed(_ samples: [Double], _ steps: [Double]) -> [Int] {
        var rows = [Double](repeating: 0, count: 64)
        var result = [Double](repeating: 0, count: 64)
        for index in 0..<64 {
            for place in 0..<8 {
                rows[index] += samples[index / 8 * 8 + place] * cosines[index % 8 * 8 + place]
            }
        }
        for index in 0..<64 {
            for place in 0..<8 {
                result[index] += rows[place * 8 + index % 8] * cosines[index / 8 * 8 + place]
            }
        }
        return zigzag.map { Int((result[$0] / steps[$0]).rounded()) }
    }
}
