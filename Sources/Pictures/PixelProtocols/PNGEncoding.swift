import Pixels

/// Writes pictures as PNG files, for terminals and for the desktop's thumbnails.
///
/// Other programs read these files without a sandbox, so Vitrine writes them itself, from pixels. A file from the
/// decoder could carry an attack from a photo to those programs.
enum PNGEncoding {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// Returns a picture as a file with texts, in 8-bit RGB.
    ///
    /// - Parameter tolerance: the largest difference between a channel of the file and of the picture. With 2, a photo
    ///   takes about half the bytes. ``FlatRuns`` stay exact.
    static func encode(
        _ picture: PixelBuffer, tolerance: Int32 = 0, texts: [(key: String, value: String)] = []
    ) -> [UInt8] {
        let checksum = CRC32()
        var file = signature
        func append(_ type: String, _ content: [UInt8]) {
            let chunk = Array(type.utf8) + content
            file += bigEndian(UInt32(clamping: content.count)) + chunk + bigEndian(checksum.of(chunk))
        }
        // The depth is 8, the colour type is RGB, and there is no interlacing.
        let size = bigEndian(UInt32(clamping: picture.width)) + bigEndian(UInt32(clamping: picture.height))
        append("IHDR", size + [8, 2, 0, 0, 0])
        for text in texts { append("tEXt", Array(text.key.utf8) + [0] + Array(text.value.utf8)) }
        append("IDAT", HuffmanZlib.compress(PaethFilter(tolerance: tolerance).rows(of: picture)))
        append("IEND", [])
        return file
    }

    fileprivate static func bigEndian(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

/// The Paeth filter of PNG (9.4), which guesses bytes from their neighbours.
///
/// In photos, the differences between bytes and guesses are small. The filter may round differences to multiples of a
/// number. It guesses from the rounded pixels, as programs that read the file do, so errors do not add up.
private struct PaethFilter {
    /// The channels of a pixel. The fourth is unused.
    private typealias Channels = SIMD4<Int32>

    /// The largest error of a byte.
    let tolerance: Int32

    private static let step = PixelBuffer.bytesPerPixel

    /// Returns the filtered rows. Each begins with the number of the filter.
    func rows(of picture: PixelBuffer) -> [UInt8] {
        let length = picture.width * Self.step
        // The row as programs that read the file see it, and the row above.
        var row = [Channels](repeating: .zero, count: tolerance > 0 ? picture.width : 0)
        var above = row
        let zeros = [UInt8](repeating: 0, count: length)
        return [UInt8](unsafeUninitializedCapacity: picture.bytes.count + picture.height) { output, count in
            picture.bytes.withUnsafeBufferPointer { bytes in
                for start in stride(from: 0, to: bytes.count, by: length) {
                    output[count] = 4
                    let source = UnsafeBufferPointer(rebasing: bytes[start..<start + length])
                    let target = UnsafeMutableBufferPointer(rebasing: output[count + 1...count + length])
                    if tolerance > 0 {
                        swap(&row, &above)
                        row.withUnsafeMutableBufferPointer { row in
                            above.withUnsafeBufferPointer { filter(source, below: $0, into: row, target) }
                        }
                    } else if start == 0 {
                        zeros.withUnsafeBufferPointer { Self.filterExactly(source, below: $0, target) }
                    } else {
                        let above = UnsafeBufferPointer(rebasing: bytes[start - length..<start])
                        Self.filterExactly(source, below: above, target)
                    }
                    count += 1 + length
                }
            }
        }
    }

    /// Filters a row without rounding. All guesses come from the source's own bytes, so many bytes are filtered at
    /// once.
    private static func filterExactly(
        _ source: UnsafeBufferPointer<UInt8>, below above: UnsafeBufferPointer<UInt8>,
        _ target: UnsafeMutableBufferPointer<UInt8>
    ) {
        for index in 0..<min(step, source.count) { target[index] = source[index] &- above[index] }
        guard source.count > step, above.count == source.count, target.count == source.count else { return }
        // The compiler makes this loop process many bytes at once.
        for index in step..<source.count {
            let (left, up, corner) = (
                Int16(source[index &- step]), Int16(above[index]), Int16(above[index &- step])
            )
            let (across, down) = (up &- corner, left &- corner)
            let sum = across &+ down
            let a = across < 0 ? 0 &- across : across
            let b = down < 0 ? 0 &- down : down
            let c = sum < 0 ? 0 &- sum : sum
            let other = b <= c ? up : corner
            let guess = a <= min(b, c) ? left : other
            target[index] = source[index] &- UInt8(truncatingIfNeeded: guess)
        }
    }

    private func filter(
        _ source: UnsafeBufferPointer<UInt8>, below above: UnsafeBufferPointer<Channels>,
        into row: UnsafeMutableBufferPointer<Channels>, _ target: UnsafeMutableBufferPointer<UInt8>
    ) {
        let unit = 2 * tolerance + 1
        // Multiplying and shifting divides differences by the unit.
        let reciprocal = (1 << 16) / unit + 1
        // Outside the picture, the filter reads zeros.
        var (left, corner) = (Channels.zero, Channels.zero)
        var flatRuns = FlatRuns(source)
        for column in row.indices {
            let index = column &* Self.step
            let value = Channels(
                Int32(source[index]), Int32(source[index &+ 1]), Int32(source[index &+ 2]), 0)
            let up = above[column]
            let guess = Self.guess(left, up, corner)
            var shown = value
            if tolerance > 0, !flatRuns.contains(column) {
                let difference = value &- guess
                let units = ((Self.magnitude(difference) &+ tolerance) &* reciprocal) &>> 16
                let rounded = units &* unit
                let read = guess &+ rounded.replacing(with: 0 &- rounded, where: difference .< 0)
                shown = read.replacing(with: value, where: (read .< 0) .| (read .> 255))
            }
            let filtered = shown &- guess
            target[index] = UInt8(truncatingIfNeeded: filtered.x)
            target[index &+ 1] = UInt8(truncatingIfNeeded: filtered.y)
            target[index &+ 2] = UInt8(truncatingIfNeeded: filtered.z)
            row[column] = shown
            (left, corner) = (shown, up)
        }
    }

    @inline(__always)
    private static func guess(_ left: Channels, _ up: Channels, _ corner: Channels) -> Channels {
        let (across, down) = (up &- corner, left &- corner)
        let (a, b, c) = (magnitude(across), magnitude(down), magnitude(across &+ down))
        return corner.replacing(with: up, where: b .<= c).replacing(with: left, where: (a .<= b) .& (a .<= c))
    }

    @inline(__always)
    private static func magnitude(_ numbers: Channels) -> Channels {
        numbers.replacing(with: 0 &- numbers, where: numbers .< 0)
    }
}

/// The checksum of PNG chunks (PNG, annex D).
private struct CRC32 {
    private let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
    }

    func of(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { table[Int(($0 ^ UInt32($1)) & 255)] ^ $0 >> 8 }
    }
}

/// Compresses bytes with Huffman codes, in the zlib format.
///
/// RFC 1950 and RFC 1951 define the format.
///
/// Filtered photos contain few repetitions except runs of one byte, so this type looks only for runs.
enum HuffmanZlib {
    /// The symbol after the last byte of a block.
    private static let end = 256
    private static let longestCode = 15
    /// The number of items in a block. Each block has its own codes, because parts of a photo differ.
    private static let blockLength = 1 << 15
    /// The shortest run that takes fewer bits than its bytes. Its bytes fit into 64 bits; see `run(_:at:)`.
    private static let shortestRun = 8
    private static let longestRun = 258

    /// Returns the compressed bytes.
    static func compress(_ bytes: [UInt8]) -> [UInt8] {
        var writer = BitWriter(size: bytes.count / 2)
        // An item is a byte, or 256 plus the length of a run that repeats the byte before it.
        var items = [UInt16](repeating: 0, count: blockLength)
        items.withUnsafeMutableBufferPointer { items in
            bytes.withUnsafeBytes { bytes in
                var index = 0
                repeat {
                    var count = 0
                    while index < bytes.count, count < items.count {
                        let run = run(bytes, at: index)
                        items[count] = run == 0 ? UInt16(bytes[index]) : UInt16(256 &+ run)
                        index &+= max(1, run)
                        count &+= 1
                    }
                    append(UnsafeBufferPointer(rebasing: items[..<count]), isLast: index == bytes.count, to: &writer)
                } while index < bytes.count
            }
        }
        return [0x78, 0x01] + writer.finished() + PNGEncoding.bigEndian(adler(bytes))
    }

    /// Returns the length of the run at an index; 0 if it is too short. A run consists of bytes that equal the byte
    /// before the index.
    @inline(__always)
    private static func run(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Int {
        // Compares as many bytes as the shortest run at once. The processor would often mispredict comparisons of
        // single bytes.
        guard index > 0, bytes.count &- index >= shortestRun,
            bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                == bytes.loadUnaligned(fromByteOffset: index &- 1, as: UInt64.self)
        else { return 0 }
        let limit = min(longestRun, bytes.count &- index)
        var run = shortestRun
        while run < limit, bytes[index &+ run] == bytes[index] { run &+= 1 }
        return run
    }

    /// The symbol of each item, and the bits that follow it (RFC 1951, 3.2.5).
    ///
    /// After a run's symbol come the extra bits of its length. Then comes the code for a distance of one byte, a single
    /// zero bit.
    private static let symbols: [(symbol: Int, bits: Int, count: Int)] = (0...256 + longestRun).map { item in
        let rest = item - 256 - 3
        guard rest >= 0 else { return (min(item, end), 0, 0) }
        guard rest + 3 < longestRun else { return (285, 0, 1) }
        let count = max(0, Int.bitWidth - rest.leadingZeroBitCount - 3)
        return (257 + 4 * count + rest >> count, rest & (1 << count - 1), count + 1)
    }

    private static func append(_ items: UnsafeBufferPointer<UInt16>, isLast: Bool, to writer: inout BitWriter) {
        var itemCounts = [Int](repeating: 0, count: symbols.count)
        itemCounts.withUnsafeMutableBufferPointer { counts in
            for item in items { counts[Int(item)] &+= 1 }
        }
        var counts = [Int](repeating: 0, count: 286)
        for (count, symbol) in zip(itemCounts, symbols) { counts[symbol.symbol] += count }
        counts[end] = 1
        if items.isEmpty { counts[0] = 1 }  // A code needs two symbols.
        let lengths = lengths(counts)
        let codes = codes(lengths)
        writer.append(isLast ? 1 : 0, 1)
        writer.append(2, 2)  // The block defines its own codes.
        appendCodes(lengths, to: &writer)
        let encoded = symbols.map { symbol, bits, count in
            (UInt64(codes[symbol] | bits << lengths[symbol]), UInt64(lengths[symbol] + count))
        }
        writer.append(items, encoded)
        writer.append(codes[end], lengths[end])
    }

    /// Appends the lengths of a block's codes (RFC 1951, 3.2.7).
    private static func appendCodes(_ lengths: [Int], to writer: inout BitWriter) {
        for (value, count) in [(lengths.count - 257, 5), (0, 5), (15, 4)] { writer.append(value, count) }
        // The lengths 0 to 13 have codes of four bits, and rarer symbols have five: 14, 15, and 17 and 18 for runs of
        // zeros.
        let widths = (0..<19).map { $0 < 14 ? 4 : $0 == 16 ? 0 : 5 }
        for symbol in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15] {
            writer.append(widths[symbol], 3)
        }
        let codes = codes(widths)
        // The block has one code for distances, of one bit.
        let written = lengths + [1]
        var index = 0
        while index < written.count {
            let zeros = written[index...].prefix(138).prefix { $0 == 0 }.count
            let symbol = zeros > 10 ? 18 : zeros > 2 ? 17 : written[index]
            writer.append(codes[symbol], widths[symbol])
            switch symbol {
            case 18: writer.append(zeros - 11, 7)
            case 17: writer.append(zeros - 3, 3)
            default: break
            }
            index += symbol > 16 ? zeros : 1
        }
    }

    /// Returns the lengths of the codes of all symbols: 0 for unused symbols, at most ``longestCode`` for others.
    static func lengths(_ counts: [Int]) -> [Int] {
        var counts = counts
        while true {
            let depths = depths(counts)
            if depths.allSatisfy({ $0 <= longestCode }) { return depths }
            // Halved counts differ less, which makes the tree flatter.
            counts = counts.map { $0 == 0 ? 0 : $0 / 2 + 1 }
        }
    }

    /// Returns the depth of each symbol in a Huffman tree.
    private static func depths(_ counts: [Int]) -> [Int] {
        let leaves = counts.indices.filter { counts[$0] > 0 }.sorted { (counts[$0], $0) < (counts[$1], $1) }
        // Nodes follow the leaves. Each node's count is at least that of the node before, so no sorting is necessary.
        var weights = leaves.map { counts[$0] }
        var parents = [Int](repeating: 0, count: max(0, 2 * leaves.count - 1))
        var (leaf, node) = (0, leaves.count)
        func takeSmallest(_ weights: [Int]) -> Int {
            let isLeaf = leaf < leaves.count && (node >= weights.count || weights[leaf] <= weights[node])
            defer { if isLeaf { leaf += 1 } else { node += 1 } }
            return isLeaf ? leaf : node
        }
        while weights.count < parents.count {
            let (one, other) = (takeSmallest(weights), takeSmallest(weights))
            (parents[one], parents[other]) = (weights.count, weights.count)
            weights.append(weights[one] + weights[other])
        }
        var depths = [Int](repeating: 0, count: parents.count)
        for index in parents.indices.dropLast().reversed() { depths[index] = depths[parents[index]] + 1 }
        var result = [Int](repeating: 0, count: counts.count)
        for (index, symbol) in leaves.enumerated() { result[symbol] = depths[index] }
        return result
    }

    /// Returns the canonical codes for these lengths (RFC 1951, 3.2.2). The bits of each code are in the order in which
    /// they are written.
    private static func codes(_ lengths: [Int]) -> [Int] {
        var codes = [Int](repeating: 0, count: lengths.count)
        var next = 0
        for length in 1...longestCode {
            next <<= 1
            for symbol in lengths.indices where lengths[symbol] == length {
                codes[symbol] = reversed(next, length)
                next += 1
            }
        }
        return codes
    }

    private static func reversed(_ value: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { $0 << 1 | (value >> $1 & 1) }
    }

    /// Returns the checksum of the bytes (RFC 1950, 9).
    private static func adler(_ bytes: [UInt8]) -> UInt32 {
        var (low, high): (UInt32, UInt32) = (1, 0)
        // The sums of 5,552 bytes fit into 32 bits. Dividing only after so many bytes saves time.
        for start in stride(from: 0, to: bytes.count, by: 5_552) {
            for byte in bytes[start..<min(start + 5_552, bytes.count)] {
                low &+= UInt32(byte)
                high &+= low
            }
            (low, high) = (low % 65_521, high % 65_521)
        }
        return high << 16 | low
    }

    /// Joins bits to words of 32 bits.
    private struct BitWriter {
        private var words: [UInt32] = []
        private var pending: UInt64 = 0
        private var count: UInt64 = 0

        /// - Parameter size: the expected number of bytes.
        init(size: Int) { words.reserveCapacity(size / 4 + 1) }

        mutating func append(_ value: Int, _ width: Int) {
            pending |= UInt64(truncatingIfNeeded: value) << count
            count += UInt64(width)
            guard count >= 32 else { return }
            words.append(UInt32(truncatingIfNeeded: pending).littleEndian)
            pending >>= 32
            count -= 32
        }

        /// Appends the code of each item.
        mutating func append(_ items: UnsafeBufferPointer<UInt16>, _ codes: [(bits: UInt64, width: UInt64)]) {
            // An item has at most 32 bits.
            let more = [UInt32](unsafeUninitializedCapacity: items.count + 1) { words, used in
                var (pending, count) = (pending, count)
                codes.withUnsafeBufferPointer { codes in
                    for item in items {
                        let code = codes[Int(item)]
                        pending |= code.bits &<< count
                        count &+= code.width
                        if count >= 32 {
                            words[used] = UInt32(truncatingIfNeeded: pending).littleEndian
                            used &+= 1
                            pending &>>= 32
                            count &-= 32
                        }
                    }
                }
                (self.pending, self.count) = (pending, count)
            }
            words += more
        }

        /// Returns all bytes; zeros fill the last byte.
        func finished() -> [UInt8] {
            words.withUnsafeBytes { Array($0) }
                + (0..<(count + 7) / 8).map { UInt8(truncatingIfNeeded: pending >> (8 * $0)) }
        }
    }
}
