/// The entries of a TIFF's first directory, and of the EXIF and GPS directories that it leads to, in a block of their own.
///
/// libexif reads no more than the first 64 KiB of a block. TIFFs have their directory behind the pixels as often as not, and a
/// block that a camera has filled with notes of its own can be longer too. What is worth reading of either is short, and is put
/// together here: every offset is a stranger's number, and is held against the bytes before it is followed.
struct TIFFDirectories {
    private typealias Entry = (tag: UInt16, type: UInt16, count: UInt32, value: [UInt8])

    private enum Tag {
        static let exif: UInt16 = 0x8769
        static let gps: UInt16 = 0x8825
        /// What a maker put there of his own, with offsets that mean something in the file alone.
        static let makerNote: UInt16 = 0x927C
        /// Where the pixels are, and how they are packed.
        static let ofPixels: Set<UInt16> = [0x0111, 0x0117, 0x0144, 0x0145, 0x015B, 0x8773]
    }

    private let bytes: UnsafeRawBufferPointer
    private let isBigEndian: Bool
    private let longest: Int

    /// The most entries of a directory that are looked at.
    private static let mostEntries = 512
    /// No value that is longer is taken.
    private static let longestValue = 4_096
    /// Bytes of one value of each type, by its number.
    private static let sizes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4]

    /// Looks at a file from its byte order mark on; nothing where that is none, or where offsets have 64 bits.
    ///
    /// - Parameter longest: how long the block may be.
    init?(_ bytes: UnsafeRawBufferPointer, longest: Int) {
        guard bytes.count > 8, bytes.starts(with: [0x49, 0x49, 42, 0]) || bytes.starts(with: [0x4D, 0x4D, 0, 42]) else {
            return nil
        }
        self.bytes = bytes
        self.longest = longest
        isBigEndian = bytes[0] == 0x4D
    }

    /// The block, in the file's byte order. What does not fit is left out.
    var block: [UInt8] {
        let main = entries(at: number(bytes[4..<8]))
        var block = Array(bytes[0..<8])
        // The directories that are led to come first, so that it is known where they are.
        var own = main.filter { $0.tag != Tag.exif && $0.tag != Tag.gps }
        for link in main where (link.tag == Tag.exif || link.tag == Tag.gps) && link.value.count == 4 {
            guard let start = append(entries(at: number(link.value)), to: &block) else { continue }
            own.append((link.tag, link.type, 1, written(UInt32(start))))
        }
        let start = append(own, to: &block) ?? 0
        block.replaceSubrange(4..<8, with: written(UInt32(start)))
        return block
    }

    /// The entries of a directory whose values are there, and short.
    private func entries(at offset: Int) -> [Entry] {
        guard offset >= 8, offset + 2 <= bytes.count else { return [] }
        let there = min(number(bytes[offset..<offset + 2]), (bytes.count - offset - 2) / 12, Self.mostEntries)
        return (0..<there).compactMap { entry(at: offset + 2 + 12 * $0) }
    }

    private func entry(at place: Int) -> Entry? {
        let tag = UInt16(number(bytes[place..<place + 2]))
        let (type, count) = (number(bytes[place + 2..<place + 4]), number(bytes[place + 4..<place + 8]))
        guard Self.sizes.indices.contains(type), Self.sizes[type] > 0, 1...Self.longestValue ~= count,
            tag != Tag.makerNote, !Tag.ofPixels.contains(tag)
        else { return nil }
        let length = count * Self.sizes[type]
        let start = length <= 4 ? place + 8 : number(bytes[place + 8..<place + 12])
        guard length <= Self.longestValue, start >= 8, start <= bytes.count - length else { return nil }
        return (tag, UInt16(type), UInt32(count), Array(bytes[start..<start + length]))
    }

    /// Writes a directory behind what there is: its entries in the order of their tags, as they are to be, and then the values
    /// that are longer than four bytes. Returns where it begins; nothing where there is none.
    private func append(_ entries: [Entry], to block: inout [UInt8]) -> Int? {
        var room = longest - block.count - 6
        let taken = entries.filter { entry in
            let length = 12 + (entry.value.count > 4 ? entry.value.count + entry.value.count % 2 : 0)
            guard length <= room else { return false }
            room -= length
            return true
        }
        guard !taken.isEmpty else { return nil }
        let start = block.count
        let first = start + 2 + 12 * taken.count + 4
        var (table, values) = (written(UInt16(taken.count)), [UInt8]())
        for entry in taken.sorted(by: { $0.tag < $1.tag }) {
            table += written(entry.tag) + written(entry.type) + written(entry.count)
            if entry.value.count <= 4 {
                table += entry.value + Array(repeating: 0, count: 4 - entry.value.count)
            } else {
                table += written(UInt32(first + values.count))
                values += entry.value + Array(repeating: 0, count: entry.value.count % 2)
            }
        }
        block += table + [0, 0, 0, 0] + values
        return start
    }

    /// A number of two or four bytes.
    private func number(_ bytes: some BidirectionalCollection<UInt8>) -> Int {
        isBigEndian ? bytes.reduce(0) { $0 << 8 | Int($1) } : bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private func written(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: isBigEndian ? number.bigEndian : number.littleEndian) { Array($0) }
    }
}
