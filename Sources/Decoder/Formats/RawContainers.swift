import Pixels

/// The previews and the metadata in a camera's raw file. `RawSensor` reads the sensor's own data.
///
/// Cameras use three kinds of containers: TIFF with directories (CR2, NEF, ARW, DNG, PEF, SRW; also ORF and RW2, with
/// other first bytes), the boxes of ISO media files (CR3), and a fixed header (RAF).
struct RawContainer {
    /// The format's name, as the user sees it.
    let name: String
    /// The embedded JPEGs that a JPEG decoder can read, from the smallest to the largest.
    private(set) var previews: [RawPreview] = []
    /// A thumbnail that is not compressed. Some phones write no other preview.
    private(set) var thumbnail: RawThumbnail?
    /// The file's own EXIF block, rewritten for libexif. Nil if only the previews have one.
    private(set) var exif: [UInt8]?

    /// The minimum length of a preview's longer side. A smaller preview cannot replace the photo.
    private static let leastSide = 640

    /// The size of the largest preview, or of the thumbnail if there is no preview.
    var largestSize: PixelSize? { previews.last?.size ?? thumbnail?.size }

    /// Whether no preview is large enough to replace the photo.
    var hasTinyPreview: Bool { largestSize.map { max($0.width, $0.height) < Self.leastSide } ?? true }

    /// Returns the format's name if a file's first bytes are those of a raw file.
    ///
    /// A TIFF is a raw file if its first directory says so, which needs up to a few thousand bytes.
    static func name(of bytes: UnsafeRawBufferPointer) -> String? {
        if bytes.starts(with: RAFHeader.mark) { return RAFHeader.name }
        if RawBoxes.recognises(bytes) { return RawBoxes.name }
        return RawDirectories(bytes)?.name
    }

    /// Whether a TIFF may turn out to be a raw file, because its first directory extends beyond the file's first bytes.
    static func isPossible(_ signature: UnsafeRawBufferPointer) -> Bool { RawDirectories.isCut(signature) }

    /// Reads a file with the signature of a raw file.
    init(_ bytes: UnsafeRawBufferPointer) {
        name = Self.name(of: bytes) ?? "raw"
        let found: [UnsafeRawBufferPointer]
        if bytes.starts(with: RAFHeader.mark) {
            found = RAFHeader(bytes).jpegs
        } else if RawBoxes.recognises(bytes) {
            let boxes = RawBoxes(bytes)
            (found, exif) = (boxes.jpegs, boxes.exif)
        } else {
            let directories = RawDirectories(bytes)
            found = directories?.jpegs ?? []
            thumbnail = directories?.thumbnail
            exif = TIFFDirectories(bytes, longest: ExifReader.longestTIFF, isRaw: true)?.block
        }
        previews = found.compactMap(RawPreview.init).sorted { $0.pixelCount < $1.pixelCount }
    }
}

/// An embedded JPEG.
struct RawPreview {
    /// The JPEG's bytes, up to the end of the file if the JPEG is truncated.
    let bytes: UnsafeRawBufferPointer
    /// The size that its header states.
    let size: PixelSize

    /// Creates a preview. Returns nil unless the bytes begin like a JPEG that `JPEGDecoder` can decode. The sensor's
    /// data in CR2 and DNG are JPEGs too, but lossless ones, which this initialiser rejects.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.starts(with: [0xFF, 0xD8, 0xFF]), let size = JPEGSegments(bytes).frameSize else { return nil }
        self.bytes = bytes
        self.size = size
    }

    /// The number of pixels. Sides have 16 bits, so the product cannot overflow.
    var pixelCount: Int { size.width * size.height }
}

/// An embedded thumbnail in rows of RGB with eight bits per channel.
struct RawThumbnail {
    /// The pixels: three bytes each.
    let bytes: UnsafeRawBufferPointer
    /// The size; both sides are above 0.
    let size: PixelSize

    /// Returns the bytes of a row.
    func row(_ index: Int) -> UnsafeBufferPointer<UInt8> {
        let length = size.width * PixelBuffer.bytesPerPixel
        return UnsafeRawBufferPointer(rebasing: bytes[index * length..<(index + 1) * length])
            .assumingMemoryBound(to: UInt8.self)
    }
}

/// Untrusted bytes with a check for every access.
struct FileBytes {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The number of bytes.
    var count: Int { bytes.count }

    /// Returns a byte; nil beyond the end.
    subscript(offset: Int) -> UInt8? {
        0..<bytes.count ~= offset ? bytes[offset] : nil
    }

    /// Returns a number of up to seven bytes; nil unless the file contains all of them.
    func number(at offset: Int, length: Int, isBigEndian: Bool) -> Int? {
        guard 1...7 ~= length, let part = part(at: offset, count: length) else { return nil }
        return isBigEndian ? part.reduce(0) { $0 << 8 | Int($1) } : part.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Returns a part; nil unless the file contains all of it.
    func part(at offset: Int, count: Int) -> UnsafeRawBufferPointer? {
        guard offset >= 0, count >= 0, count <= bytes.count, offset <= bytes.count - count else { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    /// Returns a part, cut at the end of the file; nil if it is empty.
    func beginning(at offset: Int, count: Int) -> UnsafeRawBufferPointer? {
        guard offset >= 0, offset < bytes.count, count > 0 else { return nil }
        return part(at: offset, count: min(count, bytes.count - offset))
    }
}

/// The header of Fujifilm's raw files. The header states the offset of a whole JPEG, which also has the metadata.
private struct RAFHeader {
    static let mark = Array("FUJIFILMCCD-RAW ".utf8)
    static let name = "RAF"

    /// The embedded JPEG; empty if it is missing.
    let jpegs: [UnsafeRawBufferPointer]

    init(_ bytes: UnsafeRawBufferPointer) {
        let file = FileBytes(bytes)
        let place = file.number(at: 84, length: 4, isBigEndian: true)
        let length = file.number(at: 88, length: 4, isBigEndian: true)
        jpegs = [file.beginning(at: place ?? 0, count: length ?? 0)].compactMap(\.self)
    }
}

/// The boxes of Canon's raw files. The boxes "THMB" and "PRVW" have previews, and the first track is a whole JPEG.
private struct RawBoxes {
    static let name = "CR3"

    private(set) var jpegs: [UnsafeRawBufferPointer] = []
    /// The EXIF block, joined from several TIFFs with one directory each.
    var exif: [UInt8]? {
        guard let main = directories["CMT1"] else { return nil }
        return main.block(exif: directories["CMT2"], gps: directories["CMT4"])
    }

    private let file: FileBytes
    private var directories: [String: TIFFDirectories] = [:]

    /// The maximum number of JPEGs to look at. Cameras write three.
    private static let mostJPEGs = 16

    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.dropFirst(4).starts(with: "ftypcrx ".utf8)
    }

    init(_ bytes: UnsafeRawBufferPointer) {
        file = FileBytes(bytes)
        ISOBoxes.each(in: bytes[...]) { type, content in
            switch type {
            case ISOBoxes.name("moov"):
                ISOBoxes.each(in: content) { type, content in
                    if type == ISOBoxes.name("uuid") { readOwn(content.dropFirst(16)) }
                    if type == ISOBoxes.name("trak") { readTrack(content) }
                }
            // The preview's box follows the identifier and eight more bytes.
            case ISOBoxes.name("uuid"): readOwn(content.dropFirst(24))
            default: break
            }
        }
    }

    private mutating func readOwn(_ boxes: Slice<UnsafeRawBufferPointer>) {
        ISOBoxes.each(in: boxes) { type, content in
            let content = UnsafeRawBufferPointer(rebasing: content)
            switch type {
            // In both boxes, 16 bytes come before the JPEG.
            case ISOBoxes.name("THMB"), ISOBoxes.name("PRVW"):
                add(UnsafeRawBufferPointer(rebasing: content.dropFirst(16)))
            case ISOBoxes.name("CMT1"): readDirectory("CMT1", content)
            case ISOBoxes.name("CMT2"): readDirectory("CMT2", content)
            case ISOBoxes.name("CMT4"): readDirectory("CMT4", content)
            default: break
            }
        }
    }

    private mutating func readDirectory(_ name: String, _ content: UnsafeRawBufferPointer) {
        directories[name] = TIFFDirectories(content, longest: ExifReader.longestTIFF, isRaw: true)
    }

    /// Adds a track's first sample to `jpegs`. The tracks of the sensor's data do not begin like a JPEG, so
    /// `RawPreview` rejects them.
    private mutating func readTrack(_ track: Slice<UnsafeRawBufferPointer>) {
        var (place, length): (Int?, Int?)
        ISOBoxes.each(in: track, along: ["mdia", "minf", "stbl"]) { type, content in
            let table = FileBytes(UnsafeRawBufferPointer(rebasing: content))
            switch type {
            case ISOBoxes.name("stsz"):
                let common = table.number(at: 4, length: 4, isBigEndian: true)
                length = common == 0 ? table.number(at: 12, length: 4, isBigEndian: true) : common
            case ISOBoxes.name("stco"): place = table.number(at: 8, length: 4, isBigEndian: true)
            // No file is long enough to need the first of eight bytes.
            case ISOBoxes.name("co64"): place = table.number(at: 9, length: 7, isBigEndian: true)
            default: break
            }
        }
        if let place, let length, let jpeg = file.beginning(at: place, count: length) { add(jpeg) }
    }

    private mutating func add(_ jpeg: UnsafeRawBufferPointer) {
        if jpegs.count < Self.mostJPEGs { jpegs.append(jpeg) }
    }
}

/// The directories of a raw file with TIFF's structure. Each directory has entries, and may lead to a next directory
/// and to subdirectories.
private struct RawDirectories {
    private enum Tag {
        static let kind = 0x00FE
        static let width = 0x0100
        static let height = 0x0101
        static let depth = 0x0102
        static let compression = 0x0103
        static let photometry = 0x0106
        static let maker = 0x010F
        static let strips = 0x0111
        static let stripLengths = 0x0117
        static let directories = 0x014A
        static let jpeg = 0x0201
        static let jpegLength = 0x0202
        /// Panasonic's tag of a whole JPEG.
        static let panasonicJPEG = 0x002E
        static let exif = 0x8769
        static let makerNote = 0x927C
        static let dngVersion = 0xC612
        /// The tag of Olympus's directory of settings, in the camera's notes. In that directory, the next two tags are
        /// the preview's offset and length.
        static let olympusSettings = 0x2020
        static let olympusPreview = 0x0101
        static let olympusPreviewLength = 0x0102
        /// The tag of Olympus's thumbnail, in the camera's notes.
        static let olympusThumbnail = 0x0100
    }

    private struct Entry {
        let type: Int
        let count: Int
        /// The offset of the entry's value in the file.
        let place: Int
    }

    private typealias Directory = [Int: Entry]

    /// The format's name, which the first bytes and the first directory imply.
    private(set) var name = ""
    /// The JPEGs of all directories.
    var jpegs: [UnsafeRawBufferPointer] {
        var walk = self
        walk.follow(from: first)
        return walk.found
    }

    /// The first directory's picture; nil unless it is in one piece, in RGB, and not compressed.
    var thumbnail: RawThumbnail? {
        let main = directory(at: first)
        let (width, height) = (number(main[Tag.width]) ?? 0, number(main[Tag.height]) ?? 0)
        // Sides of 16 bits, so the product cannot overflow.
        guard 1...0xFFFF ~= width, 1...0xFFFF ~= height, number(main[Tag.compression]) == 1,
            number(main[Tag.photometry]) == 2, numbers(main[Tag.depth], atMost: 3) == [8, 8, 8],
            main[Tag.strips]?.count == 1, let place = number(main[Tag.strips]),
            let bytes = file.part(at: place, count: width * height * PixelBuffer.bytesPerPixel)
        else { return nil }
        return RawThumbnail(bytes: bytes, size: PixelSize(width: width, height: height))
    }

    private let file: FileBytes
    private let isBigEndian: Bool
    /// The offset of the first directory.
    private let first: Int
    private var visited: Set<Int> = []
    private var found: [UnsafeRawBufferPointer] = []

    /// The maximum number of directories to read. Cameras write fewer than ten.
    private static let mostDirectories = 32
    /// The maximum number of JPEGs to look at.
    private static let mostJPEGs = 16
    private static let mostEntries = 512
    /// The maximum number of subdirectories of one directory.
    private static let mostBelow = 16
    private static let sizes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4]
    /// The values of the photometry tag for the sensor's own pixels.
    private static let ofSensor = [32_803, 34_892]

    /// Reads the first directory. Returns nil for files that are not raw, including ordinary TIFFs.
    init?(_ bytes: UnsafeRawBufferPointer) {
        let mark = Array(bytes.prefix(4))
        guard mark.count == 4, mark.starts(with: [0x49, 0x49]) || mark.starts(with: [0x4D, 0x4D]) else { return nil }
        let isBigEndian = mark[0] == 0x4D
        self.init(FileBytes(bytes), isBigEndian: isBigEndian)
        guard let name = name(mark, directory(at: first)) else { return nil }
        self.name = name
    }

    /// Whether the first directory extends beyond these bytes of a TIFF. Returns false for 64-bit offsets, which no raw
    /// file has.
    static func isCut(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.prefix(4).contains(42) else { return false }
        let start = RawDirectories(FileBytes(bytes), isBigEndian: bytes[0] == 0x4D)
        guard let count = number(start.file, at: start.first, 2, start.isBigEndian) else { return true }
        return start.file.part(at: start.first, count: 2 + 12 * count) == nil
    }

    private init(_ file: FileBytes, isBigEndian: Bool) {
        (self.file, self.isBigEndian) = (file, isBigEndian)
        first = file.number(at: 4, length: 4, isBigEndian: isBigEndian) ?? 0
    }

    /// Returns the format's name; nil if the file is no raw file. A TIFF is a raw file if its first directory states a
    /// version of DNG. It is also a raw file if that directory states a camera's maker, and describes the sensor or a
    /// small picture with subdirectories.
    private func name(_ mark: [UInt8], _ main: Directory) -> String? {
        switch mark {
        case Array("IIRO".utf8), Array("IIRS".utf8), Array("MMOR".utf8): return "ORF"
        case [0x49, 0x49, 0x55, 0]: return "RW2"
        case [0x49, 0x49, 42, 0], [0x4D, 0x4D, 0, 42]: break
        default: return nil
        }
        // CR2 files have "CR" and the version 2 here.
        if file.part(at: 8, count: 3)?.elementsEqual([0x43, 0x52, 2]) == true { return "CR2" }
        if main[Tag.dngVersion] != nil { return "DNG" }
        let maker = main[Tag.maker].flatMap { file.part(at: $0.place, count: min($0.count, 16)) }
        let isSmall = number(main[Tag.kind]).map { $0 & 1 == 1 } ?? false
        let isOfSensor = number(main[Tag.photometry]).map(Self.ofSensor.contains) ?? false
        guard let maker, isOfSensor || isSmall && main[Tag.directories] != nil else { return nil }
        let names = [("NIKON", "NEF"), ("SONY", "ARW"), ("PENTAX", "PEF"), ("RICOH", "PEF"), ("SAMSUNG", "SRW")]
        return names.first { maker.starts(with: $0.0.utf8) }?.1 ?? "raw"
    }

    /// Reads a directory and all directories to which it leads, each only once.
    private mutating func follow(from main: Int) {
        var waiting = [main]
        while let place = waiting.popLast() {
            guard visited.count < Self.mostDirectories, visited.insert(place).inserted else { continue }
            let directory = directory(at: place)
            collect(from: directory)
            waiting += numbers(directory[Tag.directories], atMost: Self.mostBelow)
            if let exif = number(directory[Tag.exif]) { readNotes(self.directory(at: exif)[Tag.makerNote]) }
            if let next = next(after: place) { waiting.append(next) }
        }
    }

    /// Adds the JPEGs whose offsets a directory states.
    private mutating func collect(from directory: Directory) {
        add(at: number(directory[Tag.jpeg]), number(directory[Tag.jpegLength]))
        if let own = directory[Tag.panasonicJPEG] { add(at: own.place, own.count) }
        let isJPEG = number(directory[Tag.compression]).map { 6...7 ~= $0 } ?? false
        let isOfSensor = number(directory[Tag.photometry]).map(Self.ofSensor.contains) ?? false
        // A picture in one piece is a whole JPEG.
        if isJPEG, !isOfSensor, directory[Tag.strips]?.count == 1 {
            add(at: number(directory[Tag.strips]), number(directory[Tag.stripLengths]))
        }
    }

    /// Adds the previews in Olympus's notes. New notes are like a separate file: they have a name, a byte order, and
    /// offsets from the beginning of the notes. Old notes have a name, and offsets from the beginning of the file.
    private mutating func readNotes(_ notes: Entry?) {
        guard let notes, let mark = file.beginning(at: notes.place, count: 16),
            let rest = file.beginning(at: notes.place, count: file.count)
        else { return }
        for (name, start) in [("OLYMPUS\0", 12), ("OM SYSTEM\0", 16)] where mark.starts(with: name.utf8) {
            let own = FileBytes(rest)
            let isBigEndian = own[start - 4] == 0x4D
            return takePreviews(of: RawDirectories(own, isBigEndian: isBigEndian), at: start)
        }
        guard mark.starts(with: "OLYMP\0".utf8), notes.place <= file.count else { return }
        takePreviews(of: RawDirectories(file, isBigEndian: isBigEndian), at: notes.place + 8)
    }

    private mutating func takePreviews(of notes: RawDirectories, at place: Int) {
        var notes = notes
        let main = notes.directory(at: place)
        if let thumbnail = main[Tag.olympusThumbnail] { notes.add(at: thumbnail.place, thumbnail.count) }
        // The entry contains the directory of settings itself, or the offset of that directory.
        let link = main[Tag.olympusSettings].flatMap { $0.type == 7 ? $0.place : notes.number($0) }
        let settings = notes.directory(at: link ?? 0)
        notes.add(at: notes.number(settings[Tag.olympusPreview]), notes.number(settings[Tag.olympusPreviewLength]))
        found += notes.found
    }

    private mutating func add(at place: Int?, _ length: Int?) {
        guard let place, let length, let jpeg = file.beginning(at: place, count: length),
            found.count < Self.mostJPEGs, !found.contains(where: { $0.baseAddress == jpeg.baseAddress })
        else { return }
        found.append(jpeg)
    }

    private func directory(at place: Int) -> Directory {
        guard place >= 8, place < file.count, let count = Self.number(file, at: place, 2, isBigEndian) else {
            return [:]
        }
        var directory: Directory = [:]
        for index in 0..<min(count, Self.mostEntries) {
            let start = place + 2 + 12 * index
            guard let tag = Self.number(file, at: start, 2, isBigEndian),
                let type = Self.number(file, at: start + 2, 2, isBigEndian),
                let count = Self.number(file, at: start + 4, 4, isBigEndian),
                let value = Self.number(file, at: start + 8, 4, isBigEndian)
            else { break }
            guard Self.sizes.indices.contains(type), count > 0 else { continue }
            let isInPlace = count * Self.sizes[type] <= 4
            directory[tag] = Entry(type: type, count: count, place: isInPlace ? start + 8 : value)
        }
        return directory
    }

    /// Returns the offset of the directory that follows in the chain.
    private func next(after place: Int) -> Int? {
        guard let count = Self.number(file, at: place, 2, isBigEndian) else { return nil }
        return Self.number(file, at: place + 2 + 12 * count, 4, isBigEndian).flatMap { $0 > 0 ? $0 : nil }
    }

    private func number(_ entry: Entry?) -> Int? { numbers(entry, atMost: 1).first }

    /// Returns an entry's first integers.
    private func numbers(_ entry: Entry?, atMost limit: Int) -> [Int] {
        guard let entry, [1, 3, 4, 7, 13].contains(entry.type) else { return [] }
        let size = Self.sizes[entry.type]
        return (0..<min(limit, entry.count)).compactMap {
            Self.number(file, at: entry.place + $0 * size, size, isBigEndian)
        }
    }

    private static func number(_ file: FileBytes, at place: Int, _ length: Int, _ isBigEndian: Bool) -> Int? {
        file.number(at: place, length: length, isBigEndian: isBigEndian)
    }
}
