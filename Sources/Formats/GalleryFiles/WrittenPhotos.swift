import Model
import Numbers

/// The photos in one piece of a gallery's file, in document order and unparsed.
///
/// Reading a photo parses it, so photos that are not read cost little.
public struct WrittenPhotos: WrittenEntries, Sendable {
    /// A remark about a photo that was skipped or shortened.
    public struct Remark: Equatable, Sendable {
        /// The line of the photo's element in the file.
        public let line: Int
        /// The broken rule or the omitted part, as a phrase for the log.
        public let reason: String
    }

    /// Remarks about photos that were read and broke a rule.
    public private(set) var skipped: [Remark] = []
    /// Remarks about accepted photos. Each remark names the omitted part: a thumbnail, or the end of a name.
    public private(set) var remarks: [Remark] = []
    /// The name of the gallery, if the file states one before these photos; otherwise nil.
    public private(set) var galleryName: String?

    private let base: Address
    private let plain: PlainReference
    private let digest: EntryDigest
    private var photos: [WrittenPhoto] = []
    private var bytes: [UInt8] = []
    private var imageLines: [Int] = []
    private var elements: [PhotoElement] = []
    /// The photo whose element is still open; nil if no photo's element is open.
    private var open: WrittenPhoto?
    private var openElement: PhotoElement?

    /// The maximum number of unparsed images of a photo. A photo with more images is parsed immediately, which limits
    /// memory use.
    static let keptImages = 8

    init(base: Address) {
        self.base = base
        plain = PlainReference(base: base)
        digest = EntryDigest(base: base)
    }

    /// The number of photos in this piece.
    public var count: Int { photos.count }

    /// Returns the digest of a photo's attributes and images.
    public func digest(at index: Int) -> Int64? { photos[index].digest }

    /// Parses a photo. Returns false, and adds a remark to `skipped`, if the photo breaks a rule.
    public mutating func read(_ index: Int, into entry: inout EntryBytes) -> Bool {
        let photo = photos[index]
        switch photo.kind {
        case .outer:
            skipped.append(Remark(line: photo.line, reason: "it contains another photo"))
            return false
        case .read(let number): return read(elements[number], photo, into: &entry)
        case .written: return readPlain(photo, into: &entry) || read(element(of: photo), photo, into: &entry)
        }
    }

    private mutating func read(_ element: PhotoElement, _ photo: WrittenPhoto, into entry: inout EntryBytes) -> Bool {
        switch element.entry() {
        case .success(let found):
            // A photo with remarks gets no digest, so each sync parses it again and reports its remarks.
            entry.set(found, digest: element.remarks.isEmpty ? photo.digest : nil)
            remarks += element.remarks
            return true
        case .failure(let refusal):
            skipped.append(Remark(line: element.line, reason: refusal.reason))
            return false
        }
    }

    /// Parses a typical photo without creating strings. Returns false if the photo is not typical, and so needs the
    /// full rules.
    private func readPlain(_ photo: WrittenPhoto, into entry: inout EntryBytes) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var fields = WrittenFields(UnsafeRawBufferPointer(rebasing: bytes[photo.bytes]))
            let (id, name) = (fields.next(), fields.next())
            let most = PhotoElement.maximumText
            guard !id.isEmpty, id.count <= most, !name.isEmpty, name.count <= most,
                let date = Timestamp(iso8601: fields.next())
            else { return false }
            let annotations = fields.nextAnnotations()
            guard let image = fields.nextImage(), image.kind == .image else { return false }
            let thumbnail = fields.nextImage()
            guard thumbnail?.kind != .image, fields.nextImage() == nil else { return false }
            entry.begin(date: date, digest: photo.digest)
            entry.append(id)
            entry.end(.id)
            entry.append(name)
            entry.end(.name)
            guard plain.append(image.reference, to: &entry) else { return false }
            entry.end(.photo)
            if let thumbnail, !plain.append(thumbnail.reference, to: &entry) { return false }
            entry.end(.thumbnail)
            for part in [EntryBytes.Part.revision, .libraryPart, .thumbhash] { entry.end(part) }
            if let annotations { entry.append(annotations) }
            entry.end(.annotations)
            return true
        }
    }

    /// Builds a photo's element by all rules, for a photo that the fast way does not support.
    private func element(of photo: WrittenPhoto) -> PhotoElement {
        bytes.withUnsafeBytes { bytes in
            var fields = WrittenFields(UnsafeRawBufferPointer(rebasing: bytes[photo.bytes]))
            func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }
            var element = PhotoElement(
                id: text(fields.next()), name: text(fields.next()), date: text(fields.next()),
                annotations: fields.nextAnnotations().map { PhotoAnnotations(text: text($0)) }, line: photo.line)
            for line in imageLines[photo.imageLines] {
                guard let image = fields.nextImage() else { break }
                element.add(image.kind, text(image.reference), line: line, base: base)
            }
            return element
        }
    }
}

// MARK: - Writing

extension WrittenPhotos {
    /// The maximum number of bytes of a gallery's name.
    private static let longestName = 250

    /// Reads the gallery's name from the attributes of the root element.
    mutating func takeGalleryName(from attributes: Attributes) {
        guard let value = attributes[.name] else { return }
        var bytes: [UInt8] = []
        Attributes.append(value, to: &bytes)
        let text = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        if !text.isEmpty { galleryName = text.cut(toBytes: Self.longestName) }
    }

    /// Starts a photo's element. If another photo's element is still open, that outer photo is skipped.
    mutating func begin(_ attributes: Attributes, line: Int) {
        if var outer = open {
            discard(&outer)
            openElement = nil
            outer.kind = .outer
            photos.append(outer)
        }
        open = WrittenPhoto(
            kind: .written, line: line, bytes: bytes.count..<bytes.count,
            imageLines: imageLines.count..<imageLines.count)
        let names = [XMLName.id, .name, .date]
        for name in names { WrittenFields.append(attributes[name], to: &bytes) }
        if attributes.count > names.count { WrittenFields.append(annotationsIn: attributes, to: &bytes) }
    }

    /// Adds an `image` element to the open photo, if there is one.
    mutating func add(image attributes: Attributes, line: Int) {
        guard var photo = open, let written = attributes[.kind] else { return }
        let kind: WrittenFields.ImageKind
        if written == XMLName.image {
            kind = .image
        } else if written == XMLName.thumbnail {
            kind = .thumbnail
        } else {
            return
        }
        if openElement == nil, imageLines.count - photo.imageLines.lowerBound == Self.keptImages {
            openElement = element(of: closed(photo))
            discard(&photo)
            open = photo
        }
        let start = bytes.count
        bytes.append(kind.rawValue)
        WrittenFields.append(attributes[.reference], to: &bytes)
        guard openElement != nil else { return imageLines.append(line) }
        let reference = String(decoding: bytes[(start + 5)...], as: UTF8.self)
        bytes.removeSubrange(start...)
        openElement?.add(kind, reference, line: line, base: base)
    }

    /// Ends the element of the open photo.
    mutating func end() {
        guard var photo = open else { return }
        open = nil
        if let element = openElement {
            openElement = nil
            photo.kind = .read(elements.count)
            elements.append(element)
        } else {
            photo = closed(photo)
            photo.digest = bytes.withUnsafeBytes { digest.digest(UnsafeRawBufferPointer(rebasing: $0[photo.bytes])) }
        }
        photos.append(photo)
    }

    /// Returns the finished photos and keeps the open photo.
    mutating func take() -> WrittenPhotos {
        // An open photo may be long. Copying it for each piece would take too much time, so it stays here if no photo
        // is finished.
        guard !photos.isEmpty else {
            var none = WrittenPhotos(base: base, plain: plain, digest: digest)
            none.galleryName = galleryName
            return none
        }
        var rest = WrittenPhotos(base: base, plain: plain, digest: digest)
        // The next piece is probably as large. Without reserved space, the arrays would be copied each time they grow.
        rest.bytes.reserveCapacity(bytes.count)
        rest.photos.reserveCapacity(photos.count)
        rest.imageLines.reserveCapacity(imageLines.count)
        if let open {
            let (start, firstLine) = (open.bytes.lowerBound, open.imageLines.lowerBound)
            rest.bytes += bytes[start...]
            rest.imageLines += imageLines[firstLine...]
            rest.open = open.moved(bytes: start, imageLines: firstLine)
            rest.openElement = openElement
        }
        defer { self = rest }
        return self
    }

    private func closed(_ photo: WrittenPhoto) -> WrittenPhoto {
        var closed = photo
        closed.bytes = photo.bytes.lowerBound..<bytes.count
        closed.imageLines = photo.imageLines.lowerBound..<imageLines.count
        return closed
    }

    private mutating func discard(_ photo: inout WrittenPhoto) {
        bytes.removeSubrange(photo.bytes.lowerBound...)
        imageLines.removeSubrange(photo.imageLines.lowerBound...)
        photo.bytes = bytes.count..<bytes.count
        photo.imageLines = imageLines.count..<imageLines.count
    }

    private init(base: Address, plain: PlainReference, digest: EntryDigest) {
        self.base = base
        self.plain = plain
        self.digest = digest
    }
}

/// A photo's state in ``WrittenPhotos``, and the position of its data.
struct WrittenPhoto {
    enum Kind {
        /// The photo's bytes are not parsed yet.
        case written
        /// The photo was parsed early, because it is long. The number is the photo's index in the parsed elements.
        case read(Int)
        /// The photo contains another photo.
        case outer
    }

    var kind: Kind
    /// The line of the photo's element in the file.
    let line: Int
    /// The range of the photo's bytes, which contain its attributes and images.
    var bytes: Range<Int>
    /// The range of the photo's images in the array of line numbers.
    var imageLines: Range<Int>
    /// The digest of the photo's bytes; nil if the photo must be parsed each time.
    var digest: Int64?

    func moved(bytes offset: Int, imageLines lineOffset: Int) -> WrittenPhoto {
        var moved = self
        moved.bytes = bytes.lowerBound - offset..<bytes.upperBound - offset
        moved.imageLines = imageLines.lowerBound - lineOffset..<imageLines.upperBound - lineOffset
        return moved
    }
}

/// A photo's attributes as bytes.
///
/// They are in this order: id, name, date, the annotations if there are any, then each image's kind and reference.
struct WrittenFields {
    enum ImageKind: UInt8 {
        case image = 1
        case thumbnail = 2
    }

    /// The byte before the annotations. No kind of image has this value, so annotations differ from an image in the
    /// same place.
    private static let annotationsMark: UInt8 = 3

    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func next() -> UnsafeRawBufferPointer {
        let count = Int(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        offset += 4 + count
        return UnsafeRawBufferPointer(rebasing: bytes[offset - count..<offset])
    }

    /// Returns the text of the annotations. Returns nil if there are none.
    mutating func nextAnnotations() -> UnsafeRawBufferPointer? {
        guard offset < bytes.count, bytes[offset] == Self.annotationsMark else { return nil }
        offset += 1
        return next()
    }

    mutating func nextImage() -> (kind: ImageKind, reference: UnsafeRawBufferPointer)? {
        guard offset < bytes.count, let kind = ImageKind(rawValue: bytes[offset]) else { return nil }
        offset += 1
        return (kind, next())
    }

    // MARK: - Writing

    /// Appends a photo's annotations, if the attributes contain any.
    static func append(annotationsIn attributes: Attributes, to bytes: inout [UInt8]) {
        func text(_ name: XMLName) -> String {
            guard let value = attributes[name] else { return "" }
            var text: [UInt8] = []
            Attributes.append(value, to: &text)
            return String(decoding: text.prefix(longestAnnotation), as: UTF8.self)
        }
        var annotations = PhotoAnnotations()
        annotations.description = text(.comment)
        annotations.author = text(.author)
        annotations.rating = Int(digits: text(.rating), atMost: Rating.mostStars) ?? 0
        annotations.tags = text(.tags).split(separator: ",").map(String.init)
        guard !annotations.isEmpty else { return }
        var written = annotations.text
        bytes.append(annotationsMark)
        written.withUTF8 { text in
            withUnsafeBytes(of: UInt32(text.count)) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: text)
        }
    }

    /// The maximum number of bytes that are read from an attribute with annotations.
    private static let longestAnnotation = 16_384

    static func append(_ value: UnsafeRawBufferPointer?, to bytes: inout [UInt8]) {
        let start = bytes.count
        withUnsafeBytes(of: UInt32(value?.count ?? 0)) { bytes.append(contentsOf: $0) }
        guard let value else { return }
        Attributes.append(value, to: &bytes)
        let count = bytes.count - start - 4
        // If the document's value contained references such as `&amp;`, the stored value is shorter.
        if count < value.count {
            bytes.withUnsafeMutableBytes { $0.storeBytes(of: UInt32(count), toByteOffset: start, as: UInt32.self) }
        }
    }
}

/// A 64-bit digest of an entry in a gallery's list. Entries with equal digests count as equal.
///
/// The digest is not cryptographic. A gallery that forged a collision would only hide its own change.
public struct EntryDigest: Sendable {
    /// The version of the parsing rules. Increase the version when entries must be parsed again, for example after a
    /// change of the rules for dates or names.
    private static let version: UInt64 = 1

    private let seed: UInt64

    /// - Parameter base: the address against which references are resolved. It affects an entry's meaning, so each
    ///   digest depends on it.
    public init(base: Address) {
        var text = base.text
        seed = text.withUTF8 { Self.digest(UnsafeRawBufferPointer($0), seed: Self.version) }
    }

    /// Returns the digest of an entry's bytes.
    public func digest(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        Int64(bitPattern: Self.digest(bytes, seed: seed))
    }

    private static func digest(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var state = mixed(seed, UInt64(bytes.count))
        var offset = 0
        while offset + 8 <= bytes.count {
            state = mixed(state, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        var last: UInt64 = 0
        while offset < bytes.count {
            last = last << 8 | UInt64(bytes[offset])
            offset += 1
        }
        return mixed(mixed(state, last), seed)
    }

    /// Mixes a word into a state with a 128-bit product. The result combines both halves of the product, so each input
    /// bit affects most output bits. The two constants are the fractional digits of π; the second constant is made odd.
    private static func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word ^ 0x243F_6A88_85A3_08D3).multipliedFullWidth(by: 0x1319_8A2E_0370_7345)
        return product.high ^ product.low ^ state.rotatedLeft
    }
}

extension UInt64 {
    fileprivate var rotatedLeft: UInt64 { self << 29 | self >> 35 }
}

/// One `photo` element, with the rules that it must satisfy.
struct PhotoElement: Sendable {
    let line: Int
    private let id: String
    private let name: String
    private let date: String
    private let annotations: PhotoAnnotations
    private var photo: Address?
    private var thumbnail: Address?
    /// The reason why an image of the kind `image` was rejected; nil if none was.
    private var photoProblem: String?
    private(set) var remarks: [WrittenPhotos.Remark] = []

    /// The maximum number of bytes of a name or an id. It is needed because lists sort, show and search names.
    static let maximumText = 4_096
    /// The maximum number of remarks per photo. It is needed because a photo may have any number of images.
    private static let maximumRemarks = 8
    /// The maximum number of bytes of a date in a remark.
    private static let shownDate = 64

    init(id: String, name whole: String, date: String, annotations: PhotoAnnotations? = nil, line: Int) {
        self.line = line
        self.id = id
        name = whole.cut(toBytes: Self.maximumText)
        self.date = date
        self.annotations = annotations ?? PhotoAnnotations()
        if name.utf8.count < whole.utf8.count {
            remarks.append(.init(line: line, reason: "its name was cut to \(Self.maximumText) bytes"))
        }
    }

    /// Adds an `image` element to this photo. The element replaces an earlier element of the same kind.
    mutating func add(_ kind: WrittenFields.ImageKind, _ reference: String, line: Int, base: Address) {
        do throws(AddressError) {
            guard !reference.isEmpty else { return refuse(kind, "no srcURL", line) }
            let address = try base.resolving(reference)
            guard base.mayName(address) else {
                return refuse(kind, "this gallery may not refer to \(address)", line)
            }
            if kind == .image { photo = address } else { thumbnail = address }
        } catch {
            refuse(kind, error.description, line)
        }
    }

    private mutating func refuse(_ kind: WrittenFields.ImageKind, _ reason: String, _ line: Int) {
        if kind == .image {
            photoProblem = reason
        } else if remarks.count < Self.maximumRemarks {
            remarks.append(.init(line: line, reason: "thumbnail left out: \(reason)"))
        }
    }

    /// Returns the photo, or the rule that it breaks.
    func entry() -> Result<GalleryEntry, Refusal> {
        guard !id.isEmpty else { return .failure(Refusal(reason: "no id")) }
        // A long id is not cut, because the cut id could equal the id of another photo.
        guard id.utf8.count <= Self.maximumText else {
            return .failure(Refusal(reason: "its id is longer than \(Self.maximumText) bytes"))
        }
        guard !name.isEmpty else { return .failure(Refusal(reason: "no name")) }
        guard !date.isEmpty else { return .failure(Refusal(reason: "no date")) }
        guard let moment = Timestamp(iso8601: date) else {
            let shown = date.cut(toBytes: Self.shownDate)
            return .failure(Refusal(reason: "“\(shown)” is not a date like 2006-07-30T07:47:17Z"))
        }
        guard let photo else { return .failure(Refusal(reason: photoProblem ?? "no image of kind “image”")) }
        return .success(
            GalleryEntry(
                id: id, name: name, date: moment, photo: photo, thumbnail: thumbnail, annotations: annotations))
    }

    struct Refusal: Error {
        let reason: String
    }
}
