import Pixels

/// Writes pictures as PNG files, for terminals and for the desktop's thumbnails.
///
/// Other programs read these files without a sandbox, so Vitrine writes them itself, from pixels. A file from the
/// decoder could carry an attack from a photo to those programs.
enum PNGEncoding {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// Returns a picture as a file with texts, in 8-bit RGB.
    static func encode(_ picture: PixelBuffer, texts: [(key: String, value: String)] = []) -> [UInt8] {
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
        append("IDAT", HuffmanZlib.compress(filtered(picture)))
        append("IEND", [])
        return file
    }

    /// Returns the rows with the Paeth filter (PNG, 9.4). In photos, the filter leaves small numbers.
    private static func filtered(_ picture: PixelBuffer) -> [UInt8] {
        let (step, length) = (PixelBuffer.bytesPerPixel, picture.width * PixelBuffer.bytesPerPixel)
        // Outside the picture, the filter reads zeros.
        let blank = [UInt8](repeating: 0, count: step + length)
        var (row, above) = (blank, blank)
        var rows: [UInt8] = []
        rows.reserveCapacity(picture.bytes.count + picture.height)
        var output = [UInt8](repeating: 0, count: length)
        for start in stride(from: 0, to: picture.bytes.count, by: length) {
            swap(&row, &above)
            row.replaceSubrange(step..., with: picture.bytes[start..<start + length])
            filter(row, below: above, step, to: &output)
            rows.append(4)
            rows += output
        }
        return rows
    }

    /// Filters a row. Both rows begin with a pixel outside the picture.
    ///
    /// There are no branches, so that the compiler handles many bytes at once.
    private static func filter(_ row: [UInt8], below above: [UInt8], _ step: Int, to output: inout [UInt8]) {
        row.withUnsafeBufferPointer { row in
            above.withUnsafeBufferPointer { above in
                output.withUnsafeMutableBufferPointer { output in
                    for index in output.indices {
                        let (left, up) = (Int16(row[index]), Int16(above[index &+ step]))
                        let corner = Int16(above[index])
                        let (across, down) = (up &- corner, left &- corner)
                        let (a, b, c) = (distance(across), distance(down), distance(across &+ down))
                        let guess = a <= b && a <= c ? left : b <= c ? up : corner
                        output[index] = row[index &+ step] &- UInt8(truncatingIfNeeded: guess)
                    }
                }
            }
        }
    }

    private static func distance(_ number: Int16) -> Int16 { max(number, 0 &- number) }

    fileprivate static func bigEndian(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
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

/// Compresses bytes with one Huffman code, in the zlib format.
///
/// RFC 1950 and RFC 1951 define the format.
///
/// Filtered photos contain few repetitions, so searching for repetitions would save little.
enum HuffmanZlib {
    /// The symbol after the last byte.
    private static let end = 256
    private static let longestCode = 15

    /// Returns the compressed bytes.
    static func compress(_ bytes: [UInt8]) -> [UInt8] {
        var counts = [Int](repeating: 0, count: end + 1)
        for byte in bytes { counts[Int(byte)] += 1 }
        counts[end] = 1
        if bytes.isEmpty { counts[0] = 1 }  // A code needs two symbols.
        let lengths = lengths(counts)
        let codes = codes(lengths)
        var writer = BitWriter(size: bytes.count)
        // The header of the last block, which defines its own code for 257 symbols, and no distances.
        for (value, count) in [(1, 1), (2, 2), (0, 5), (0, 5), (15, 4)] { writer.append(value, count) }
        // The lengths 0 to 15 have codes of 4 bits, and the three symbols for repetitions are unused.
        for index in 0..<19 { writer.append(index < 3 ? 0 : 4, 3) }
        for length in lengths + [0] { writer.append(reversed(length, 4), 4) }
        for byte in bytes { writer.append(codes[Int(byte)], lengths[Int(byte)]) }
        writer.append(codes[end], lengths[end])
        return [0x78, 0x01] + writer.finished() + PNGEncoding.bigEndian(adler(bytes))
    }

    /// Returns the lengths of the codes of all symbols: 0 for unused symbols, at most ``longestCode`` for others.
    static func lengths(_ counts: [Int]) -> [Int] {
        var counts = counts
        while true {
            let depths = depths(counts)
            if depths.allSatisfy({ $0 <= longestCode }) { return depths }
            // Raising the counts of rare symbols makes the tree flatter.
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
        // The sums of so many bytes fit into 32 bits, and divisions take long.
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
        private var count = 0

        /// - Parameter size: the expected number of bytes.
        init(size: Int) { words.reserveCapacity(size / 4 + 1) }

        mutating func append(_ value: Int, _ width: Int) {
            pending |= UInt64(truncatingIfNeeded: value) << UInt64(count)
            count += width
            guard count >= 32 else { return }
            words.append(UInt32(truncatingIfNeeded: pending).littleEndian)
            pending >>= 32
            count -= 32
        }

        /// Returns all bytes; zeros fill the last one.
        func finished() -> [UInt8] {
            words.withUnsafeBytes { Array($0) }
                + (0..<(count + 7) / 8).map { UInt8(truncatingIfNeeded: pending >> UInt64(8 * $0)) }
        }
    }
}
