import CExif
import Pixels

/// Reads the entries of an EXIF block with libexif.
///
/// libexif limits loops and recursion and skips entries with offsets outside the block. This type also checks each
/// entry's length before it reads the bytes.
struct ExifReader: ~Copyable {
    private let data: UnsafeMutablePointer<ExifData>

    /// The longest block that libexif reads, in bytes: a JPEG segment cannot be longer.
    private static let longestBlock = 0xFFFE
    /// The longest block in bytes, counted from its byte order mark.
    static let longestTIFF = longestBlock - 6

    /// Reads a block that begins with its byte order mark. Returns nil if memory is short. If the block is too long or
    /// has 64-bit offsets, this initialiser first rewrites as much of the block as possible.
    init?(tiff: UnsafeRawBufferPointer) {
        let longest = Self.longestTIFF
        let directories = TIFFDirectories(tiff, longest: longest)
        let isReadable = tiff.count <= longest && directories?.isBig != true
        let made = isReadable ? nil : directories?.block
        self.init(block: made ?? Array(tiff.prefix(longest)))
    }

    /// Reads a block that begins with its byte order mark. Ignores bytes beyond `longestTIFF`.
    init?(block: [UInt8]) {
        let block = Array("Exif\0\0".utf8) + block.prefix(Self.longestTIFF)
        guard let data = cexif_read(block, UInt32(block.count)) else { return nil }
        self.data = data
    }

    deinit {
        exif_data_unref(data)
    }

    /// Returns a text entry without surrounding white space. Returns nil if the entry is missing or empty, or has
    /// another type: libexif would describe its bytes. Windows stores the tags for its own properties as bytes.
    func text(_ tag: ExifTag, in directory: ExifIfd) -> String? {
        guard let entry = entry(tag, in: directory),
            entry.pointee.format == EXIF_FORMAT_ASCII || tag == EXIF_TAG_XP_TITLE
        else { return nil }
        return Self.text(entry)
    }

    /// The comment by the user or the camera; nil if it is missing, empty or not readable.
    var comment: String? {
        entry(EXIF_TAG_USER_COMMENT, in: EXIF_IFD_EXIF).flatMap { comment($0) }
    }

    /// Returns an entry's first number.
    func number(_ tag: ExifTag, in directory: ExifIfd) -> Double? {
        numbers(tag, in: directory).first
    }

    /// Returns an entry's first number, if it is an integer.
    func integer(_ tag: ExifTag, in directory: ExifIfd) -> Int? {
        number(tag, in: directory).flatMap { Int(exactly: $0) }
    }

    /// Returns the first numbers of an entry, at most four. Returns no numbers if one of them is not a number.
    func numbers(_ tag: ExifTag, in directory: ExifIfd) -> [Double] {
        guard let entry = entry(tag, in: directory)?.pointee, let bytes = entry.data else { return [] }
        let order = exif_data_get_byte_order(data)
        let width = Int(exif_format_get_size(entry.format))
        let count = width > 0 ? min(4, Int(clamping: entry.components), Int(entry.size) / width) : 0
        let numbers = (0..<count).compactMap { Self.number(entry.format, at: bytes + $0 * width, order) }
        return numbers.count == count ? numbers : []
    }

    /// The bytes of the embedded thumbnail; empty if there is none. The library libexif has checked that the bytes lie
    /// in the block.
    var thumbnail: [UInt8] {
        Array(UnsafeBufferPointer(start: data.pointee.data, count: Int(data.pointee.size)))
    }

    /// Returns the entries in the file's order. Omits entries about the embedded thumbnail, because users would think
    /// that they describe the picture.
    func fields(atMost limit: Int) -> [MetadataField] {
        var fields: [MetadataField] = []
        for directory in [EXIF_IFD_0, EXIF_IFD_EXIF, EXIF_IFD_GPS, EXIF_IFD_INTEROPERABILITY] {
            guard let content = cexif_directory(data, directory), let entries = content.pointee.entries
            else { continue }
            for index in 0..<Int(content.pointee.count) where fields.count < limit {
                guard let entry = entries[index], let value = description(entry),
                    let title = exif_tag_get_title_in_ifd(entry.pointee.tag, directory)
                else { continue }
                fields.append(MetadataField(name: String(cString: title), value: value))
            }
        }
        return fields
    }

    /// Returns an entry's value in words, or a number without words.
    private func description(_ entry: UnsafeMutablePointer<ExifEntry>) -> String? {
        guard entry.pointee.tag != EXIF_TAG_USER_COMMENT else { return comment(entry) }
        // libexif describes the number 1 as "Internal error (unknown value 1)" if the specification does not define it.
        let unknown = "Internal error (unknown value "
        return Self.text(entry).map { $0.hasPrefix(unknown) ? String($0.dropFirst(unknown.count).dropLast()) : $0 }
    }

    private func entry(_ tag: ExifTag, in directory: ExifIfd) -> UnsafeMutablePointer<ExifEntry>? {
        cexif_directory(data, directory).flatMap { exif_content_get_entry($0, tag) }
    }

    /// The tags of Windows' own properties: title, comment, author, keywords and subject.
    private static let windowsTags = EXIF_TAG_XP_TITLE.rawValue...EXIF_TAG_XP_SUBJECT.rawValue

    private static func text(_ entry: UnsafeMutablePointer<ExifEntry>) -> String? {
        // libexif does not read pairs of surrogates.
        guard !windowsTags.contains(entry.pointee.tag.rawValue) else {
            return trimmed(utf16(bytes(entry)[...], isBigEndian: false))
        }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: PictureMetadata.longestText) { buffer in
            buffer.initialize(repeating: 0)
            guard let start = buffer.baseAddress,
                exif_entry_get_value(entry, start, UInt32(buffer.count - 1)) != nil
            else { return nil }
            // "The character set of the returned string may be in the encoding of the current locale or the native
            // encoding of the camera" (exif-entry.h): bytes that are not UTF-8 become replacement characters.
            return trimmed(String(cString: start))
        }
    }

    private static func trimmed(_ text: String) -> String? {
        let words = text.drop(while: \.isWhitespace)
        let end = words.lastIndex { !$0.isWhitespace }
        return end.map { String(words[...$0]) }
    }

    /// Returns a comment's text. The comment's first eight bytes name the character code.
    ///
    /// libexif reads only ASCII, and returns fixed words for comments in other codes. Some programs omit the code,
    /// so the comment may be shorter. Binary data contain control characters, or are not valid in UTF-8.
    private func comment(_ entry: UnsafeMutablePointer<ExifEntry>) -> String? {
        let bytes = Self.bytes(entry)
        let (code, rest) = (bytes.prefix(8), bytes.dropFirst(8))
        let text: String?
        if code.elementsEqual("ASCII\0\0\0".utf8) {
            text = String(decoding: rest.prefix { $0 != 0 }, as: UTF8.self)
        } else if code.elementsEqual("UNICODE\0".utf8) {
            text = Self.utf16(rest, isBigEndian: exif_data_get_byte_order(data) == EXIF_BYTE_ORDER_MOTOROLA)
        } else if code.elementsEqual("JIS\0\0\0\0\0".utf8) {
            text = nil
        } else if code.allSatisfy({ $0 == 0 }) {
            text = String(validating: rest.prefix { $0 != 0 }, as: UTF8.self)
        } else {
            text = String(validating: bytes[...(bytes.lastIndex { $0 != 0 } ?? 0)], as: UTF8.self)
        }
        guard let text,
            text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control || $0.properties.isWhitespace })
        else { return nil }
        return Self.trimmed(text)
    }

    private static func bytes(_ entry: UnsafeMutablePointer<ExifEntry>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: entry.pointee.data, count: Int(entry.pointee.size))
    }

    /// Returns UTF-16 up to the first zero. A byte order mark takes precedence over the given byte order.
    private static func utf16(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, isBigEndian: Bool) -> String {
        var units = stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
        var isBigEndian = isBigEndian
        if let mark = units.first, [0xFEFF, 0xFFFE].contains(mark) {
            isBigEndian = mark == 0xFEFF
            units.removeFirst()
        }
        if !isBigEndian { units = units.map(\.byteSwapped) }
        return String(decoding: units.prefix { $0 != 0 }, as: UTF16.self)
    }

    private static func number(
        _ format: ExifFormat, at bytes: UnsafePointer<UInt8>, _ order: ExifByteOrder
    ) -> Double? {
        switch format {
        case EXIF_FORMAT_BYTE: return Double(bytes[0])
        case EXIF_FORMAT_SHORT: return Double(exif_get_short(bytes, order))
        case EXIF_FORMAT_LONG: return Double(exif_get_long(bytes, order))
        case EXIF_FORMAT_SLONG: return Double(exif_get_slong(bytes, order))
        case EXIF_FORMAT_RATIONAL:
            let ratio = exif_get_rational(bytes, order)
            return ratio.denominator == 0 ? nil : Double(ratio.numerator) / Double(ratio.denominator)
        case EXIF_FORMAT_SRATIONAL:
            let ratio = exif_get_srational(bytes, order)
            return ratio.denominator == 0 ? nil : Double(ratio.numerator) / Double(ratio.denominator)
        default: return nil
        }
    }
}

/// A picture's EXIF data. This type ignores invalid entries, so that Vitrine can still show the picture.
struct ExifBlock {
    /// The picture's orientation; nil if the block states none.
    private(set) var statedOrientation: Orientation?
    /// The picture's orientation.
    var orientation: Orientation { statedOrientation ?? .upright }
    /// Whether the colours are Adobe RGB, according to the block.
    private(set) var isAdobeRGB = false
    /// The embedded thumbnail, usually a JPEG.
    private(set) var thumbnail: [UInt8] = []
    /// All other metadata of the block.
    private(set) var metadata = PictureMetadata()

    /// Reads a block that begins with its byte order mark ("II" or "MM"). Without a block, the data are empty.
    init(tiff: UnsafeRawBufferPointer?) {
        guard let exif = tiff.flatMap(ExifReader.init(tiff:)) else { return }
        read(exif)
    }

    /// Reads a block that `TIFFDirectories` made. Without a block, the data are empty.
    init(rewritten block: [UInt8]?) {
        guard let exif = block.flatMap(ExifReader.init(block:)) else { return }
        read(exif)
    }

    private mutating func read(_ exif: borrowing ExifReader) {
        statedOrientation = exif.integer(EXIF_TAG_ORIENTATION, in: EXIF_IFD_0).map { Orientation(exif: $0) }
        isAdobeRGB = Self.isAdobeRGB(exif)
        thumbnail = exif.thumbnail
        metadata.camera = Self.camera(exif)
        metadata.lens = exif.text(EXIF_TAG_LENS_MODEL, in: EXIF_IFD_EXIF)
        metadata.takenAt =
            Self.timestamp(exif.text(EXIF_TAG_DATE_TIME_ORIGINAL, in: EXIF_IFD_EXIF))
            ?? Self.timestamp(exif.text(EXIF_TAG_DATE_TIME_DIGITIZED, in: EXIF_IFD_EXIF))
        metadata.exposureSeconds = exif.number(EXIF_TAG_EXPOSURE_TIME, in: EXIF_IFD_EXIF)
        metadata.aperture = exif.number(EXIF_TAG_FNUMBER, in: EXIF_IFD_EXIF)
        metadata.iso = exif.integer(EXIF_TAG_ISO_SPEED_RATINGS, in: EXIF_IFD_EXIF)
        metadata.focalLength = exif.number(EXIF_TAG_FOCAL_LENGTH, in: EXIF_IFD_EXIF)
        metadata.latitude = Self.degrees(exif, GPSTag.latitude, negative: "S")
        metadata.longitude = Self.degrees(exif, GPSTag.longitude, negative: "W")
        metadata.title = exif.text(EXIF_TAG_XP_TITLE, in: EXIF_IFD_0)
        metadata.description =
            exif.text(EXIF_TAG_IMAGE_DESCRIPTION, in: EXIF_IFD_0)
            ?? exif.comment
        metadata.fields = exif.fields(atMost: PictureMetadata.mostFields)
        metadata = metadata.bounded
    }

    /// Whether the entries mean Adobe RGB. Cameras write the number for "uncalibrated" and the index "R03", which marks
    /// a "DCF option file" (Exif 2.32, 4.6.8). Some cameras write the number 2 instead.
    private static func isAdobeRGB(_ exif: borrowing ExifReader) -> Bool {
        switch exif.integer(EXIF_TAG_COLOR_SPACE, in: EXIF_IFD_EXIF) {
        case 2: true
        case 0xFFFF: exif.text(EXIF_TAG_INTEROPERABILITY_INDEX, in: EXIF_IFD_INTEROPERABILITY) == "R03"
        default: false
        }
    }

    /// The tags of a photo's latitude and longitude, and of their hemispheres. The library libexif omits these tags
    /// from its enum, because other directories use the same numbers.
    private enum GPSTag {
        static let latitude = (hemisphere: ExifTag(rawValue: 1), value: ExifTag(rawValue: 2))
        static let longitude = (hemisphere: ExifTag(rawValue: 3), value: ExifTag(rawValue: 4))
    }

    /// Returns the camera's maker and model. Omits the maker if the model repeats it.
    private static func camera(_ exif: borrowing ExifReader) -> String? {
        let maker = exif.text(EXIF_TAG_MAKE, in: EXIF_IFD_0)
        let model = exif.text(EXIF_TAG_MODEL, in: EXIF_IFD_0)
        guard let maker, let model else { return model ?? maker }
        return model.lowercased().hasPrefix(maker.lowercased()) ? model : "\(maker) \(model)"
    }

    /// Rewrites "2006:07:30 07:47:17" as "2006-07-30T07:47:17". Returns nil if the text is no time.
    private static func timestamp(_ text: String?) -> String? {
        guard let text, text.utf8.count == 19 else { return nil }
        var bytes = Array(text.utf8)
        (bytes[4], bytes[7], bytes[10]) = (UInt8(ascii: "-"), UInt8(ascii: "-"), UInt8(ascii: "T"))
        return String(validating: bytes, as: UTF8.self).flatMap { PictureMetadata.isTimestamp($0) ? $0 : nil }
    }

    private static func degrees(
        _ exif: borrowing ExifReader, _ tags: (hemisphere: ExifTag, value: ExifTag), negative: String
    ) -> Double? {
        let parts = exif.numbers(tags.value, in: EXIF_IFD_GPS)
        guard parts.count == 3, let hemisphere = exif.text(tags.hemisphere, in: EXIF_IFD_GPS) else { return nil }
        let degrees = parts[0] + parts[1] / 60 + parts[2] / 3600
        return hemisphere == negative ? -degrees : degrees
    }
}
