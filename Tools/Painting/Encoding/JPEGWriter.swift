/// Writes baseline JPEG files (ITU-T T.81) with optimal Huffman tables.
///
/// The costly cosine transform runs once in `init`; the picture can then be written at several qualities until one
/// fits.
struct JPEGWriter: Sendable {
    /// The resolution of colour relative to brightness.
    enum Sampling: Sendable {
        /// Brightness only: a file of one component.
        case grey
        /// Colour for every pixel (4:4:4).
        case full
        /// Colour for every two by two pixels (4:2:0).
        case halved
    }

    private let width: Int
    private let height: Int
    private let sampling: Sampling
    private let planes: [FrequencyPlane]

    init(_ raster: Raster, sampling: Sampling = .halved) {
        width = raster.width
        height = raster.height
        self.sampling = sampling
        planes = FrequencyPlane.planes(of: raster, sampling: sampling)
    }

    /// Returns the file at the highest quality up to `best` that fits `budget` bytes.
    ///
    /// If even a quality of 30 needs more, that file is returned.
    func file(within budget: Int, best: Int = 90, exif: [UInt8]? = nil) -> [UInt8] {
        var low = 30
        var high = best
        var fitting = file(quality: high, exif: exif)
        if fitting.count <= budget { return fitting }
        fitting = file(quality: low, exif: exif)
        while high - low > 1 {
            let middle = (low + high) / 2
            let attempt = file(quality: middle, exif: exif)
            if attempt.count <= budget {
                low = middle
                fitting = attempt
            } else {
                high = middle
            }
        }
        return fitting
    }

    /// Returns the file at a quality from 1 to 100, on libjpeg's scale.
    func file(quality: Int, exif: [UInt8]? = nil) -> [UInt8] {
        let tables = [JPEGTables.luminance(quality: quality), JPEGTables.chrominance(quality: quality)]
        let symbols = planes.enumerated().map { index, plane in
            JPEGSymbols(plane, quantisedBy: tables[min(index, 1)])
        }
        let classes = sampling == .grey ? 1 : 2
        let codes = (0..<classes).map { which in
            let members = symbols.indices.filter { min($0, 1) == which }
            return (
                steady: HuffmanCode(counts: Self.sum(members.map { symbols[$0].steadyCounts })),
                varying: HuffmanCode(counts: Self.sum(members.map { symbols[$0].varyingCounts }))
            )
        }

        var file = ByteSink(.bigEndian)
        file.append([0xFF, 0xD8])
        if let exif {
            segment(0xE1, exif, to: &file)
        } else {
            segment(0xE0, Array("JFIF".utf8) + [0, 1, 1, 0, 0, 1, 0, 1, 0, 0], to: &file)
        }
        for which in 0..<classes {
            let zigzagged = JPEGTables.zigzag.map { UInt8(tables[which][$0]) }
            segment(0xDB, [UInt8(which)] + zigzagged, to: &file)
        }
        segment(0xC0, frameHeader(), to: &file)
        for which in 0..<classes {
            segment(0xC4, [UInt8(which)] + codes[which].steady.specification, to: &file)
            segment(0xC4, [0x10 | UInt8(which)] + codes[which].varying.specification, to: &file)
        }
        segment(0xDA, scanHeader(), to: &file)

        var bits = JPEGBits()
        for (plane, block) in blockOrder() {
            let which = min(plane, 1)
            symbols[plane].write(block: block, codes[which].steady, codes[which].varying, to: &bits)
        }
        file.append(bits.finished())
        file.append([0xFF, 0xD9])
        return file.bytes
    }

    /// The planes and blocks in the interleaved order of a scan.
    private func blockOrder() -> [(plane: Int, block: Int)] {
        var order: [(plane: Int, block: Int)] = []
        let coarsest = planes[planes.count - 1]
        for row in 0..<coarsest.rows {
            for column in 0..<coarsest.columns {
                for (index, plane) in planes.enumerated() {
                    for y in 0..<plane.factor {
                        for x in 0..<plane.factor {
                            let block = (row * plane.factor + y) * plane.columns + column * plane.factor + x
                            order.append((index, block))
                        }
                    }
                }
            }
        }
        return order
    }

    private func frameHeader() -> [UInt8] {
        var header = ByteSink(.bigEndian)
        header.append([8])
        header.append16(UInt16(height))
        header.append16(UInt16(width))
        header.append([UInt8(planes.count)])
        for (index, plane) in planes.enumerated() {
            header.append([UInt8(index + 1), UInt8(plane.factor << 4 | plane.factor), UInt8(min(index, 1))])
        }
        return header.bytes
    }

    private func scanHeader() -> [UInt8] {
        var header: [UInt8] = [UInt8(planes.count)]
        for index in planes.indices {
            header += [UInt8(index + 1), index == 0 ? 0x00 : 0x11]
        }
        return header + [0, 63, 0]
    }

    private func segment(_ marker: UInt8, _ content: [UInt8], to file: inout ByteSink) {
        file.append([0xFF, marker])
        file.append16(UInt16(content.count + 2))
        file.append(content)
    }

    private static func sum(_ counts: [[Int]]) -> [Int] {
        counts.reduce([Int](repeating: 0, count: 256)) { zip($0, $1).map(+) }
    }
}
