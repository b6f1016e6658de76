import Model

/// Collects a web page's rows: links with their images, texts and dates.
///
/// A row is complete when another begins, or at a separator: the end of its line, list item or table row. The date is
/// behind the link, or else between the last separator and the link.
struct ListedRows {
    /// The target of a row's link.
    enum Subject: Equatable {
        /// A picture or video in the folder.
        case file([UInt8])
        /// A subfolder of the folder.
        case folder([UInt8])
        /// A picture or video elsewhere on the server.
        case photo
        /// A file that is no picture, or an unwanted folder. Such a row only ends the previous row.
        case other([UInt8])
    }

    private struct Row {
        let subject: Subject
        let target: Address
        /// The text between the last separator and the link.
        var lead: RowText
        /// The text behind the link.
        var text = RowText()
        var thumbnail: Address?
    }

    /// The maximum number of bytes of a revision.
    private static let maximumRevision = 200
    /// The maximum number of icons to remember.
    private static let maximumIcons = 64

    private var row: Row?
    /// The text since the last separator, before the first row.
    private var lead = RowText()
    /// The last photo, which waits for the next photo. If both have the same image, the image is an icon.
    private var held: ListedFile?
    private var icons: Set<Address> = []
    /// The digests of the rows' addresses, by the digests of their names. With this table, two photos of a page never
    /// get the same name. It is the parser's only memory that grows with the page: about 30 bytes for each entry.
    private var addresses: [Int: Int] = [:]
    private var piece = ListingPiece()

    /// Returns the complete files and folders, and removes them.
    mutating func takePiece() -> ListingPiece {
        defer { piece = ListingPiece() }
        return piece
    }

    /// Begins a row, and ends the previous row. A second link to the same target continues the row.
    mutating func open(_ subject: Subject, at target: Address) {
        if let row, row.subject == subject, subject != .photo || row.target == target { return }
        // A text before several links need not belong to the first.
        row?.lead = RowText()
        endRow()
        row = Row(subject: subject, target: target, lead: lead)
        lead = RowText()
    }

    /// Adds an image to the row. Only the first image counts.
    mutating func add(thumbnail: Address) {
        if row?.thumbnail == nil { row?.thumbnail = thumbnail }
    }

    /// Adds a text to the row, or to the text before the next row.
    mutating func add(text: UnsafeRawBufferPointer) {
        if row == nil { lead.add(text) } else { row?.text.add(text) }
    }

    /// Adds a space between the texts of two elements.
    mutating func addSpace() {
        if row == nil { lead.addSpace() } else { row?.text.addSpace() }
    }

    /// Ends a heading. Its text belongs to no row that follows.
    mutating func endHeading() { if row == nil { lead = RowText() } }

    /// Ends the row at a separator.
    mutating func close() {
        endRow()
        lead = RowText()
    }

    private mutating func endRow() {
        guard let row else { return }
        self.row = nil
        switch row.subject {
        case .other: break
        case .folder(let name):
            // The slash distinguishes a folder from a file with the same name.
            if claim(name + [UInt8(ascii: "/")], for: nil) { piece.folders.append(ListedSubfolder(name: name)) }
        case .file(let name): add(name, row, place: nil)
        case .photo: if let name = Self.pictureName(of: row.target) { add(name, row, place: row.target) }
        }
    }

    /// Ends the last row, and adds the last photo to the piece.
    mutating func finish() {
        close()
        if let held { piece.files.append(held) }
        held = nil
    }

    /// Returns the decoded last part of a picture's path. Returns nil if this part is not the name of a picture.
    static func pictureName(of address: Address) -> [UInt8]? {
        guard let slash = address.path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let part = address.path[address.path.utf8.index(after: slash)...]
        let name = PercentEncoding.decodedBytes(String(part))
        return ListedFolder.isSound(name) && PictureName.isPictureOrVideo(name[...]) ? name : nil
    }

    /// Adds a photo.
    ///
    /// - Parameter place: the photo's address; nil if it is the file of this name in the folder.
    private mutating func add(_ name: [UInt8], _ row: Row, place: Address?) {
        let (key, address) = (Self.key(name), place.hashValue)
        var file = ListedFile(name: name, photo: place)
        if let known = addresses[key] {
            // This is the same photo again, or another photo with the same name.
            guard known != address, let longer = Self.longName(of: row.target), claim(longer, for: row.target)
            else { return }
            file = ListedFile(name: longer, photo: row.target)
        } else {
            addresses[key] = address
        }
        for part in [row.text, row.lead] where file.date == nil {
            let text = String(decoding: ByteEscaping.restore(part.bytes), as: UTF8.self)
            guard let date = RowDate.moment(in: text) else { continue }
            file.date = date
            // Any other text is a caption, which says nothing about the file's version.
            file.revision = RowAge.removed(from: String(decoding: text.utf8.trimmedOfWhiteSpace, as: UTF8.self))
                .cut(toBytes: Self.maximumRevision)
        }
        file.thumbnail = row.thumbnail.flatMap { isIcon($0) ? nil : $0 }
        if let held { piece.files.append(held) }
        held = file
    }

    /// Returns whether an image is an icon. Icons are the server's own images, and images that two consecutive photos
    /// share.
    private mutating func isIcon(_ image: Address) -> Bool {
        // Apache's icons are in `/icons/`. Some programs serve an icon at the address of a folder.
        if image.path.hasPrefix("/icons/") || image.path.hasSuffix("/") || icons.contains(image) { return true }
        guard held?.thumbnail == image else { return false }
        held?.thumbnail = nil
        if icons.count < Self.maximumIcons { icons.insert(image) }
        return true
    }

    /// Records a name and its address. Returns false if another entry of the page has the name.
    private mutating func claim(_ name: [UInt8], for place: Address?) -> Bool {
        let key = Self.key(name)
        guard addresses[key] == nil else { return false }
        addresses[key] = place.hashValue
        return true
    }

    /// Returns a digest of a name.
    private static func key(_ name: [UInt8]) -> Int {
        var hasher = Hasher()
        // Hashing the array itself would be slower, because it passes on its bytes one by one.
        name.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    /// Returns the folders and name of a photo's path, joined with dashes.
    private static func longName(of address: Address) -> [UInt8]? {
        let path = PercentEncoding.decodedBytes(address.path).split(separator: UInt8(ascii: "/"))
        let name = Array(path.joined(separator: [UInt8(ascii: "-")]))
        return ListedFolder.isSound(name) && PictureName.isPictureOrVideo(name[...]) ? name : nil
    }
}

/// A text of a row, of limited length. Each run of white space is one space.
private struct RowText {
    private(set) var bytes: [UInt8] = []

    /// The maximum number of bytes.
    private static let maximum = 1_024

    mutating func add(_ text: UnsafeRawBufferPointer) {
        guard bytes.count < Self.maximum else { return }
        var previous: UInt8 = 0
        for byte in text {
            // C2 A0 is a no-break space in UTF-8.
            if byte == 0xA0, previous == 0xC2 {
                bytes.removeLast()
                addSpace()
            } else if byte <= 0x20 {
                addSpace()
            } else if bytes.count < Self.maximum {
                bytes.append(byte)
            } else {
                return
            }
            previous = byte
        }
    }

    mutating func addSpace() {
        if let last = bytes.last, last != 0x20 { bytes.append(0x20) }
    }
}

/// Finds the date in the text of a row.
enum RowDate {
    /// Returns the first date with a time in a string; nil if the string contains no such date. Times without a zone
    /// count as UTC.
    ///
    /// Reads the forms of Apache (`2026-11-25 21:00`), nginx (`25-Nov-2026 21:00`), lighttpd (`2026-Nov-25 21:00:00`),
    /// HTTP (`Wed, 25 Nov 2026 21:00:00 GMT`) and RFC 3339. Also reads RFC 3339 with spaces and an offset, such as
    /// `2026-11-25 21:00:00 +0100`, and the offset of miniserve, which is `+01:00`.
    static func moment(in text: String) -> Timestamp? {
        if let moment = text.utf8.withContiguousStorageIfAvailable(UsualDate.row) ?? nil { return moment }
        let words = text.split(separator: " ")
        for index in words.indices {
            let rest = words[index...]
            if let moment = spaced(rest) ?? ListingDate.moment(words[index]) ?? header(rest) { return moment }
        }
        return nil
    }

    /// Reads a date with dashes, a time, and perhaps an offset.
    private static func spaced(_ words: ArraySlice<Substring>) -> Timestamp? {
        guard let date = words.first, let time = words.dropFirst().first, time.utf8.count <= 18 else { return nil }
        let parts = date.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let isYearFirst = parts[0].utf8.count == 4
        guard
            let moment = ListingDate.moment(
                day: parts[isYearFirst ? 2 : 0], month: parts[1], year: parts[isYearFirst ? 0 : 2], time: time)
        else { return nil }
        return words.dropFirst(2).first.flatMap(offset).map { moment.advanced(by: -$0) } ?? moment
    }

    /// Returns the seconds of an offset from UTC, such as `+0130` or `+01:30`.
    private static func offset(_ word: Substring) -> Double? {
        var digits = word.dropFirst().utf8.map { Double($0) - 0x30 }
        if digits.count == 5, word.dropFirst(3).first == ":" { digits.remove(at: 2) }
        guard word.first == "+" || word.first == "-", digits.count == 4, digits.allSatisfy({ (0...9).contains($0) })
        else { return nil }
        let seconds = ((digits[0] * 10 + digits[1]) * 60 + digits[2] * 10 + digits[3]) * 60
        return word.first == "-" ? -seconds : seconds
    }

    /// Reads the date of an HTTP header.
    private static func header(_ words: ArraySlice<Substring>) -> Timestamp? {
        guard words.first?.last == ",", words.count >= 6 else { return nil }
        return ListingDate.moment(words.prefix(6).joined(separator: " "))
    }
}

/// Finds the age of a file at the end of a row, such as `3 hours ago`. The age changes although the file does not.
enum RowAge {
    /// Returns a row's text without the age at its end.
    ///
    /// Reads the forms of miniserve: `now`, `3 hours ago`, `an hour ago`, and `in 3 hours` for a date in the future.
    static func removed(from text: String) -> String {
        // Most rows end with a digit or an upper-case letter, so they need no further steps.
        guard let last = text.utf8.last, (0x61...0x7A).contains(last) else { return text }
        let words = text.split(separator: " ")
        if words.last == "now" { return words.dropLast().joined(separator: " ") }
        let end = Array(words.suffix(3))
        guard end.count == 3 else { return text }
        let isAge = end[2] == "ago" ? isSpan(end[0], end[1]) : end[0] == "in" && isSpan(end[1], end[2])
        return isAge ? words.dropLast(3).joined(separator: " ") : text
    }

    /// Returns whether a number and a unit are a span of time.
    private static func isSpan(_ number: Substring, _ unit: Substring) -> Bool {
        guard number == "a" || number == "an" || number.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return false
        }
        return units.contains(unit.hasSuffix("s") ? unit.dropLast() : unit)
    }

    private static let units: Set<Substring> = ["second", "minute", "hour", "day", "week", "month", "year"]
}
