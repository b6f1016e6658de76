/// The entries of a TIFF's first directory, and of the EXIF and GPS directories that it leads to, in a block of their own.
///
/// libexif reads no more than the first 64 KiB of a block. TIFFs have their directory behind the pixels as often as not, and a
/// block that a camera has filled with notes of its own can be longer too. Nor does it read BigTIFF, whose offsets have 64 bits.
/// What is worth reading of any is short, and is put together here, with offsets of 32: every offset is a stranger's number, and
/// is held against the bytes before it is followed.
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
    /// Whether offsets have 64 bits, and so have numbers of entries and values.
    let isBig: Bool
    private let longest: Int

    /// The most entries of a directory that are looked at.
    private static let mostEntries = 512
    /// No value that is longer is taken.
    private static let longestValue = 4_096
    /// Bytes of one value of each type, by its number. The last three are numbers of 64 bits.
    private static let sizes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8]
    /// The last type that blocks have whose offsets have 32 bits.
    private static let lastSmallType: UInt16 = 13
    /// An offset's type in the block that is made.
    private static let long: UInt16 = 4

    /// Looks at a file from its byte order mark on; nothing where that is none.
    ///
    /// - Parameter longest: how long the block may be.
    init?(_ bytes: UnsafeRawBufferPointer, longest: Int) {
        // "The size of offsets", and a constant zero.
        let marks: [(mark: [UInt8], isBig: Bool)] = [
            ([0x49, 0x49, 42, 0], false), ([0x4D, 0x4D, 0, 42], false),
            ([0x49, 0x49, 43, 0, 8, 0, 0, 0], true), ([0x4D, 0x4D, 0, 43, 0, 8, 0, 0], true),
        ]
        guard let (_, isBig) = marks.first(where: { bytes.starts(with: $0.mark) }), bytes.count > (isBig ? 16 : 8)
        else { return nil }
        self.bytes = bytes
        self.longest = longest
        self.isBig = isBig
        isBigEndian = bytes[0] == 0x4D
    }

    /// Bytes of an offset.
    private var width: Int { isBig ? 8 : 4 }

    /// The block, in the file's byte order. What does not fit is left out.
    var block: [UInt8] {
        let main = entries(at: number(bytes[width..<2 * width]))
        var block = Array(bytes[0..<2]) + written(UInt16(42)) + [0, 0, 0, 0]
        // The directories that are led to come first, so that it is known where they are.
        var own = main.filter { $0.tag != Tag.exif && $0.tag != Tag.gps }
        for link in main where (link.tag == Tag.exif || link.tag == Tag.gps) && [4, width].contains(link.value.count) {
            guard let start = append(entries(at: number(link.value)), to: &block) else { continue }
            own.append((link.tag, Self.long, 1, written(UInt32(start))))
        }
        let start = append(own, to: &block) ?? 0
        block.replaceSubrange(4..<8, with: written(UInt32(start)))
        return block
    }

    /// The entries of a directory whose values are there, and short.
    private func entries(at offset: Int) -> [Entry] {
        let (head, length) = (isBig ? 8 : 2, 4 + 2 * width)
        guard offset >= 8, offset <= bytes.count - head else { return [] }
        let there = min(
            number(bytes[offset..<offset + head]), (bytes.count - offset - head) / length, Self.mostEntries)
        return (0..<max(0, there)).compactMap { entry(at: offset + head + length * $0) }
    }

    private func entry(at place: Int) -> Entry? {
        let tag = UInt16(number(bytes[place..<place + 2]))
        let (type, count) = (number(bytes[place + 2..<place + 4]), number(bytes[place + 4..<place + 4 + width]))
        guard Self.sizes.indices.contains(type), Self.sizes[type] > 0, 1...Self.longestValue ~= count,
            tag != Tag.makerNote, !Tag.ofPixels.contains(tag)
        else { return nil }
        let length = count * Self.sizes[type]
        let value = place + 4 + width
        let start = length <= width ? value : number(bytes[value..<value + width])
        guard length <= Self.longestValue, start >= 8, start <= bytes.count - length else { return nil }
        return (tag, UInt16(type), UInt32(count), Array(bytes[start..<start + length]))
    }

    /// Writes a directory behind what there is: its entries in the order of their tags, as they are to be, and then the values
    /// that are longer than four bytes. Returns where it begins; nothing where there is none.
    private func append(_ entries: [Entry], to block: inout [UInt8]) -> Int? {
        var room = longest - block.count - 6
        let taken = entries.filter { entry in
            guard entry.type <= Self.lastSmallType else { return false }
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

    /// A number of two, four or eight bytes. One of eight may come out as less than zero.
    private func number(_ bytes: some BidirectionalCollection<UInt8>) -> Int {
        isBigEndian ? bytes.reduce(0) { $0 << 8 | Int($1) } : bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private func written(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: isBigEndian ? number.bigEndian : number.littleEndian) { Array($0) }
    }
}
