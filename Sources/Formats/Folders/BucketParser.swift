import CLibXML2
import Model

/// Parses a page of a bucket's list (S3, `ListObjectsV2`).
///
///     <ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>1ueG</NextContinuationToken>
///     <Contents><Key>2024/a+b.jpg</Key><LastModified>2026-11-25T21:00:00.000Z</LastModified>
///     <ETag>"fba9"</ETag><Size>123</Size></Contents><CommonPrefixes><Prefix>2024/Lisbon/</Prefix></CommonPrefixes>…
///
/// A page has about 1,000 entries. Some servers state the encoding of keys after the keys, so the parser returns all
/// entries at the end.
public final class BucketParser: ListingParser {
    /// The name of the file that lists the photos of a published gallery.
    public static let galleryFile = "gallery.xml"
    /// The maximum number of bytes of a text. A key has at most 1,024 bytes, and encoding makes up to three bytes of
    /// each byte.
    private static let maximumText = 4_096
    /// The maximum number of entries of a page.
    private static let maximumEntries = 10_000
    /// The maximum number of bytes of a value, such as a size. Longer values count as missing.
    private static let maximumValue = 256

    private let prefix: [UInt8]
    private let stream: XMLEventStream
    private var open: [Element] = []
    /// The text of the innermost open element that can have text.
    private var text: [UInt8] = []
    private var entry = Entry()
    private var entries: [Entry] = []
    private var isEncoded = false
    private var isTruncated = false
    private var token = ""

    /// An object or a folder, as the server wrote it.
    private struct Entry {
        var isFolder = false
        var key: [UInt8] = []
        var modified = ""
        var etag = ""
        var size = ""
    }

    /// Creates a parser for one page.
    ///
    /// - Parameter prefix: the decoded beginning that all keys of the folder have. It ends with a slash, or is empty
    ///   for the whole bucket.
    public convenience init(prefix: [UInt8]) {
        self.init(prefix: prefix, library: XMLLibrary.file)
    }

    /// - Parameter library: the file name of libxml2.
    init(prefix: [UInt8], library: String) {
        self.prefix = prefix
        stream = XMLEventStream(library: library, wantsText: true)
    }

    /// Returns whether an answer is the list of a bucket.
    ///
    /// - Parameter beginning: the first bytes, which must contain the first tag.
    public static func recognises(_ beginning: [UInt8]) -> Bool {
        DocumentRoot.name(beginning).map { $0.elementsEqual("listbucketresult".utf8) } ?? false
    }

    /// Parses the next bytes. Returns nothing, because only the end of the page completes the entries.
    public func parse(_ bytes: [UInt8]) throws -> ListingPiece {
        try stream.push(bytes) { event in try self.take(event) }
        return ListingPiece()
    }

    /// Parses the end of the document, and returns the page. Throws if the page is incomplete.
    public func finish() throws -> ListingPiece {
        try stream.finish { event in try self.take(event) }
        var piece = ListingPiece()
        for entry in entries { add(entry, to: &piece) }
        entries = []
        piece.nextPage = try nextPage()
        return piece
    }

    /// Parses the end of the document. Returns every object of the page, and the token of the next page. Throws if the
    /// page is incomplete.
    public func finishObjects() throws -> (objects: [BucketObject], nextPage: String?) {
        try stream.finish { event in try self.take(event) }
        defer { entries = [] }
        let objects = entries.compactMap { entry -> BucketObject? in
            let key = isEncoded ? Self.decoded(entry.key) : entry.key
            guard !entry.isFolder, key.starts(with: prefix) else { return nil }
            return BucketObject(
                name: Array(key[prefix.count...]), size: entry.size, date: ListingDate.moment(entry.modified),
                tag: entry.etag.filter { $0 != "\"" }.lowercased())
        }
        return (objects, try nextPage())
    }

    private func nextPage() throws -> String? {
        guard isTruncated || !token.isEmpty else { return nil }
        guard !token.isEmpty else {
            throw FormatError.malformed(line: 0, reason: "the list does not name its next page")
        }
        return token
    }

    private func take(_ event: XMLPushStream.Event) throws {
        switch event {
        case .start(let name, _, _, _):
            let element = Element(name, in: open.last)
            guard !open.isEmpty || element == .list else { throw FormatError.otherDocument(name) }
            open.append(element)
            switch element {
            case .object, .folder: entry = Entry(isFolder: element == .folder)
            default: if element.hasText { text.removeAll(keepingCapacity: true) }
            }
        case .text(let bytes, let line):
            guard open.last?.hasText == true else { return }
            guard text.count + bytes.count <= Self.maximumText else { throw FormatError.tooLong(line: line) }
            text.append(contentsOf: bytes)
        case .end:
            if let element = open.popLast() { try end(element) }
        }
    }

    private func end(_ element: Element) throws {
        switch element {
        case .isTruncated: isTruncated = value.lowercased() != "false"
        case .token: token = String(decoding: text.trimmedOfWhiteSpace, as: UTF8.self)
        case .encoding: isEncoded = value == "url"
        // White space is part of a key, so this text is not trimmed.
        case .key: entry.key = text
        case .modified: entry.modified = value
        case .etag: entry.etag = value
        case .size: entry.size = value
        case .object, .folder:
            guard entries.count < Self.maximumEntries else { throw FormatError.tooLong(line: 0) }
            entries.append(entry)
        case .list, .other: break
        }
    }

    /// The text of the element that has ended; empty if the text is too long.
    private var value: String {
        let trimmed = text.trimmedOfWhiteSpace
        return trimmed.count <= Self.maximumValue ? String(decoding: trimmed, as: UTF8.self) : ""
    }

    private func add(_ entry: Entry, to piece: inout ListingPiece) {
        let key = isEncoded ? Self.decoded(entry.key) : entry.key
        // Some programs create an empty object for the folder itself.
        guard key != prefix else { return }
        guard key.starts(with: prefix) else { return piece.skipped.append(PathText.text(key)) }
        var name = Array(key[prefix.count...])
        if entry.isFolder, name.last == UInt8(ascii: "/") { name.removeLast() }
        let isSound = ListedFolder.isSound(name)
        if entry.isFolder {
            // Some names cannot be part of an address, for example `..` or an empty name.
            guard isSound else { return piece.skipped.append(PathText.text(key)) }
            if ListedSubfolder.isWanted(name) { piece.folders.append(ListedSubfolder(name: name)) }
        } else if name.elementsEqual(Self.galleryFile.utf8) {
            piece.hasGalleryFile = true
        } else if PictureName.isPictureOrVideo(name[...]) {
            guard isSound else { return piece.skipped.append(PathText.text(key)) }
            let isKnown = !(entry.size.isEmpty && entry.modified.isEmpty)
            piece.files.append(
                ListedFile(
                    name: name, date: ListingDate.moment(entry.modified),
                    revision: !entry.etag.isEmpty ? entry.etag : isKnown ? "\(entry.size)-\(entry.modified)" : ""))
        }
    }

    /// Decodes a URL-encoded key. Servers write a space as `+` or `%20`.
    private static func decoded(_ key: [UInt8]) -> [UInt8] {
        let spaced = key.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
        return spaced.contains(UInt8(ascii: "%"))
            ? PercentEncoding.decodedBytes(String(decoding: spaced, as: UTF8.self)) : spaced
    }

    /// An element of the list. Its meaning depends on its parent element.
    private enum Element {
        case list, isTruncated, token, encoding, object, folder, key, modified, etag, size, other

        init(_ name: UnsafePointer<xmlChar>, in parent: Element?) {
            self =
                switch parent {
                case nil where name == XMLName.list: .list
                case .list where name == XMLName.isTruncated: .isTruncated
                case .list where name == XMLName.token: .token
                case .list where name == XMLName.encoding: .encoding
                case .list where name == XMLName.object: .object
                case .list where name == XMLName.folder: .folder
                case .object where name == XMLName.key, .folder where name == XMLName.prefix: .key
                case .object where name == XMLName.modified: .modified
                case .object where name == XMLName.etag: .etag
                case .object where name == XMLName.size: .size
                default: .other
                }
        }

        var hasText: Bool {
            switch self {
            case .isTruncated, .token, .encoding, .key, .modified, .etag, .size: true
            case .list, .object, .folder, .other: false
            }
        }
    }
}

/// An object of a bucket, as a list states it.
public struct BucketObject: Hashable, Sendable {
    /// The decoded key without the prefix of the list.
    public let name: [UInt8]
    /// The size in bytes as decimal digits; empty if the list states no size.
    public let size: String
    /// The time of the last upload by the service's clock; nil if unknown.
    public let date: Timestamp?
    /// The entity tag without quotes. For an object that was sent in one piece, most services use its MD5 digest.
    public let tag: String
}

/// The document with which a storage service explains a refusal.
public struct BucketRefusal: Hashable, Sendable {
    /// The HTTP status of the answer.
    public let status: Int
    /// The reason, such as `AccessDenied`: letters and digits.
    public let code: String
    /// The region for which the request must be signed; nil if the service states none.
    public let region: String?

    /// The maximum number of bytes of a code or region.
    private static let maximumCode = 64

    /// Parses the body of an answer. Returns nil for other documents.
    public init?(status: Int, region: String?, body: [UInt8]) {
        guard DocumentRoot.name(body)?.elementsEqual("error".utf8) == true else { return nil }
        let stream = XMLEventStream(library: XMLLibrary.file, wantsText: true)
        var (depth, name, texts) = (0, "", [String: [UInt8]]())
        func take(_ event: XMLPushStream.Event) throws {
            switch event {
            case .start(let tag, _, _, _):
                depth += 1
                if depth == 2 { name = String(cString: tag) }
            case .text(let bytes, _):
                guard depth == 2, name == "Code" || name == "Region" else { return }
                guard texts[name, default: []].count + bytes.count <= Self.maximumCode else { return }
                texts[name, default: []].append(contentsOf: bytes)
            case .end: depth -= 1
            }
        }
        // A truncated document can still state the code.
        try? stream.push(body) { event in try take(event) }
        let code = (texts["Code"] ?? []).filter {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
        }
        guard !code.isEmpty else { return nil }
        let named = texts["Region"].map { String(decoding: $0.trimmedOfWhiteSpace, as: UTF8.self) }
        (self.status, self.code) = (status, String(decoding: code, as: UTF8.self))
        self.region = [region, named].compactMap { $0 }.first(where: AccessKey.isRegion)
    }

    /// Creates a refusal.
    public init(status: Int, code: String, region: String? = nil) {
        (self.status, self.code, self.region) = (status, code, region)
    }

    /// Whether the refusal is due to a wrong or expired access key.
    public var isOfKey: Bool { Self.keyCodes.contains(code) }

    /// Whether a refused request without an access key needs a key.
    public var wantsKey: Bool {
        status == 401 || status == 403 || status == 400 && Self.signatureCodes.contains(code)
    }

    /// Whether a repeated request must be signed for ``region``.
    public var isOfRegion: Bool { region != nil && (status == 400 || status == 301 || isOfKey) }

    private static let keyCodes: Set<String> = [
        "AuthFailure", "AuthorizationHeaderMalformed", "ExpiredToken", "InvalidAccessKeyId", "InvalidSecurity",
        "InvalidToken", "SignatureDoesNotMatch", "TokenRefreshRequired",
    ]
    private static let signatureCodes: Set<String> = [
        "AuthorizationHeaderMalformed", "MissingSecurityHeader", "UnsupportedAlgorithm",
    ]
}

extension XMLName {
    fileprivate static let list = Self("ListBucketResult")
    fileprivate static let isTruncated = Self("IsTruncated")
    fileprivate static let token = Self("NextContinuationToken")
    fileprivate static let encoding = Self("EncodingType")
    fileprivate static let object = Self("Contents")
    fileprivate static let folder = Self("CommonPrefixes")
    fileprivate static let key = Self("Key")
    fileprivate static let prefix = Self("Prefix")
    fileprivate static let modified = Self("LastModified")
    fileprivate static let etag = Self("ETag")
    fileprivate static let size = Self("Size")
}
