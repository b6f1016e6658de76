import Model

/// Photos that one piece of a gallery's file brought, in the order of the document, as they were written there.
///
/// What they mean is found out when it is asked for, and for those alone that it is asked for.
public struct WrittenPhotos: WrittenEntries, Sendable {
    /// Something to be noted of a photo.
    public struct Remark: Equatable, Sendable {
        /// Where its element begins.
        public let line: Int
        /// Which rule it broke, or what of it was left out: a phrase for the log.
        public let reason: String
    }

    /// Photos that broke a rule, of those that were read.
    public private(set) var skipped: [Remark] = []
    /// What was left out of photos that were kept, of those that were read: a thumbnail, the end of a name.
    public private(set) var remarks: [Remark] = []

    private let base: Address
    private let plain: PlainReference
    private let digest: EntryDigest
    private var photos: [WrittenPhoto] = []
    private var bytes: [UInt8] = []
    private var imageLines: [Int] = []
    private var elements: [PhotoElement] = []
    /// The photo whose element has not ended yet, and what has been read of it if it is long.
    private var open: WrittenPhoto?
    private var openElement: PhotoElement?

    /// Images of a photo beyond which it is read at once, so that memory is bounded whatever a photo contains.
    static let keptImages = 8

    init(base: Address) {
        self.base = base
        plain = PlainReference(base: base)
        digest = EntryDigest(base: base)
    }

    /// How many there are.
    public var count: Int { photos.count }

    /// What the photo's attributes and those of its images come to.
    public func digest(at index: Int) -> Int64? { photos[index].digest }

    /// Finds out what a photo is. One that breaks a rule goes to those that are skipped.
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
            // What is remarked is remarked each time, so this one is read each time.
            entry.set(found, digest: element.remarks.isEmpty ? photo.digest : nil)
            remarks += element.remarks
            return true
        case .failure(let refusal):
            skipped.append(Remark(line: element.line, reason: refusal.reason))
            return false
        }
    }

    /// Reads a photo as nearly all are, without making texts of it. Returns false if there is anything special about it.
    private func readPlain(_ photo: WrittenPhoto, into entry: inout EntryBytes) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var fields = WrittenFields(UnsafeRawBufferPointer(rebasing: bytes[photo.bytes]))
            let (id, name) = (fields.next(), fields.next())
            let most = PhotoElement.maximumText
            guard !id.isEmpty, id.count <= most, !name.isEmpty, name.count <= most,
                let date = Timestamp(iso8601: fields.next()), let image = fields.nextImage(), image.kind == .image
            else { return false }
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
            return true
        }
    }

    /// A photo with all rules that it has to keep.
    private func element(of photo: WrittenPhoto) -> PhotoElement {
        bytes.withUnsafeBytes { bytes in
            var fields = WrittenFields(UnsafeRawBufferPointer(rebasing: bytes[photo.bytes]))
            func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }
            var element = PhotoElement(
                id: text(fields.next()), name: text(fields.next()), date: text(fields.next()), line: photo.line)
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
    /// Begins a photo's element. One that is open contains it, and is dropped.
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
        for name in [XMLName.id, .name, .date] { WrittenFields.append(attributes[name], to: &bytes) }
    }

    /// Takes an `image` element inside of the one that is open, if there is one.
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

    /// Ends the element that is open.
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

    /// Hands out what has come, and begins anew with what has not ended.
    mutating func take() -> WrittenPhotos {
        // Else what is open, which may be long, would be copied with each piece that comes.
        guard !photos.isEmpty else { return WrittenPhotos(base: base, plain: plain, digest: digest) }
        var rest = WrittenPhotos(base: base, plain: plain, digest: digest)
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
