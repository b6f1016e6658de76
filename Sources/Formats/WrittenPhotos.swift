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

/// Where a photo's element lies in ``WrittenPhotos``, or what else became of it.
struct WrittenPhoto {
    enum Kind {
        /// It lies in the bytes.
        case written
        /// It has been read, being too long to be kept as it was written; which one of those it is.
        case read(Int)
        /// It contains another photo.
        case outer
    }

    var kind: Kind
    /// Where the element begins.
    let line: Int
    /// Its attributes, and those of its images.
    var bytes: Range<Int>
    /// The lines of its images, by their places.
    var imageLines: Range<Int>
    /// Of its bytes.
    var digest: Int64?

    func moved(bytes offset: Int, imageLines lineOffset: Int) -> WrittenPhoto {
        var moved = self
        moved.bytes = bytes.lowerBound - offset..<bytes.upperBound - offset
        moved.imageLines = imageLines.lowerBound - lineOffset..<imageLines.upperBound - lineOffset
        return moved
    }
}

/// The attributes of one photo as they lie in ``WrittenPhotos``: id, name and date, then kind and reference of each image.
struct WrittenFields {
    enum ImageKind: UInt8 {
        case image = 1
        case thumbnail = 2
    }

    private let bytes: UnsafeRawBufferPointer
    private var place = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func next() -> UnsafeRawBufferPointer {
        let count = Int(bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
        place += 4 + count
        return UnsafeRawBufferPointer(rebasing: bytes[place - count..<place])
    }

    mutating func nextImage() -> (kind: ImageKind, reference: UnsafeRawBufferPointer)? {
        guard place < bytes.count, let kind = ImageKind(rawValue: bytes[place]) else { return nil }
        place += 1
        return (kind, next())
    }

    // MARK: - Writing

    static func append(_ value: UnsafeRawBufferPointer?, to bytes: inout [UInt8]) {
        let start = bytes.count
        withUnsafeBytes(of: UInt32(value?.count ?? 0)) { bytes.append(contentsOf: $0) }
        guard let value else { return }
        Attributes.append(value, to: &bytes)
        let count = bytes.count - start - 4
        // Shorter than it was written, where it was written with references.
        if count < value.count {
            bytes.withUnsafeMutableBytes { $0.storeBytes(of: UInt32(count), toByteOffset: start, as: UInt32.self) }
        }
    }
}

/// Sixty-four bits that stand for what a gallery wrote of a photo: two entries with the same ones mean the same.
///
/// Not a secret, and nothing that withstands somebody who looks for two entries with the same digest: all that a gallery
/// could bring about by it is that its own change is not noticed.
struct EntryDigest {
    /// Goes up when the same writing comes to mean something else, so that it is taken apart again: another rule for
    /// dates, another cut of names.
    private static let version: UInt64 = 1

    private let seed: UInt64

    /// - Parameter base: what references are relative to. The same entry means something else in another place.
    init(base: Address) {
        var text = base.text
        seed = text.withUTF8 { Self.digest(UnsafeRawBufferPointer($0), seed: Self.version) }
    }

    func digest(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        Int64(bitPattern: Self.digest(bytes, seed: seed))
    }

    private static func digest(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var state = mixed(seed, UInt64(bytes.count))
        var place = 0
        while place + 8 <= bytes.count {
            state = mixed(state, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
            place += 8
        }
        var last: UInt64 = 0
        while place < bytes.count {
            last = last << 8 | UInt64(bytes[place])
            place += 1
        }
        return mixed(mixed(state, last), seed)
    }

    /// Both halves of a product of 128 bits: each bit of what goes in reaches most of what comes out. The two numbers are
    /// the digits of π behind the point, the second one made odd.
    private static func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word ^ 0x243F_6A88_85A3_08D3).multipliedFullWidth(by: 0x1319_8A2E_0370_7345)
        return product.high ^ product.low ^ state.rotatedLeft
    }
}

extension UInt64 {
    fileprivate var rotatedLeft: UInt64 { self << 29 | self >> 35 }
}
