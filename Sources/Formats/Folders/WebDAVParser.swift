import CLibXML2
import Model

/// Parses a WebDAV server's answer to `PROPFIND`. The answer states the properties of a folder and its members.
///
/// The parser uses those properties of a member that have a 2xx status, and skips unknown elements and members. It
/// identifies elements by namespace and name, because each server chooses its own prefixes.
public final class WebDAVParser: ListingParser {
    /// The addresses of the previews that a Nextcloud server makes.
    public struct Previews: Hashable, Sendable {
        /// The place of the files.
        private enum Place: Hashable {
            case user
            case album
            /// A public album with this token.
            case publicAlbum(String)
            /// A public share's folder. The text is the beginning of the preview addresses, relative to `root`.
            case share(String)
        }

        private let root: Address
        private let place: Place

        /// Creates the addresses of previews of a user's files.
        ///
        /// An album may contain files of other users. Only the Photos app of Nextcloud shows previews of those files.
        ///
        /// - Parameters:
        ///   - root: the address of the Nextcloud server, with a slash at its end.
        ///   - isAlbum: whether the files are in an album.
        public init(root: Address, isAlbum: Bool = false) {
            self.root = root.asFolder
            place = isAlbum ? .album : .user
        }

        /// Creates the addresses of previews of the photos in a public album.
        ///
        /// - Parameters:
        ///   - root: the address of the Nextcloud server, with a slash at its end.
        ///   - publicAlbum: the token of the album, as it is in addresses.
        public init(root: Address, publicAlbum: String) {
            self.root = root.asFolder
            place = .publicAlbum(publicAlbum)
        }

        /// Creates the addresses of previews of a folder in a public share.
        ///
        /// - Parameters:
        ///   - root: the address of the Nextcloud server, with a slash at its end.
        ///   - share: the token of the share, as it is in addresses.
        ///   - folder: the decoded path of the folder below the share, with a slash at its end; empty for the share.
        public init(root: Address, share: String, folder: [UInt8]) {
            self.root = root.asFolder
            place = .share("index.php/apps/files_sharing/publicpreview/\(share)?file=/" + Self.encode(folder))
        }

        /// Returns the address of a file's preview. For a file outside of a share, returns nil if the id is no number.
        public func address(ofFile number: String, named name: [UInt8]) -> Address? {
            let isNumber =
                (1...20).contains(number.utf8.count) && number.utf8.allSatisfy { (0x30...0x39).contains($0) }
            let size = "x=256&y=256"
            let reference: String? =
                switch place {
                case .share(let beginning): beginning + Self.encode(name) + "&\(size)&a=true"
                case _ where !isNumber: nil
                case .user: "index.php/core/preview?fileId=\(number)&\(size)&a=1&forceIcon=0"
                case .album: "index.php/apps/photos/api/v1/preview/\(number)?\(size)"
                case .publicAlbum(let token):
                    "index.php/apps/photos/api/v1/publicPreview/\(number)?\(size)&token=\(token)"
                }
            return reference.flatMap { try? root.resolving($0) }
        }

        /// Encodes bytes for the value of a query's field.
        private static func encode(_ bytes: [UInt8]) -> String {
            PercentEncoding.encode(bytes, keepingEscapes: false, also: "/").map { character in
                switch character {
                case "&": "%26"
                case "+": "%2B"
                default: String(character)
                }
            }.joined()
        }
    }

    /// The maximum number of bytes of a property.
    private static let maximumText = 65_536

    private let folder: ListedFolder
    private let previews: Previews?
    private let stream: XMLEventStream
    private var piece = ListingPiece()
    private var open: [Element] = []
    /// The text of the innermost open element that can have text.
    private var text: [UInt8] = []
    private var reference: String?
    private var properties: Properties?
    private var written = Properties()
    private var isSuccess = false

    /// Creates a parser for one answer.
    ///
    /// - Parameter previews: the previews of a Nextcloud server, which become thumbnails.
    public convenience init(folder: ListedFolder, previews: Previews? = nil) {
        self.init(folder: folder, previews: previews, library: XMLLibrary.file)
    }

    /// - Parameter library: the file name of libxml2.
    init(folder: ListedFolder, previews: Previews?, library: String) {
        self.folder = folder
        self.previews = previews
        stream = XMLEventStream(library: library, wantsText: true)
    }

    /// Returns whether an answer is a WebDAV multistatus document.
    ///
    /// - Parameter beginning: the first bytes, which must contain the first tag.
    public static func recognises(_ beginning: [UInt8]) -> Bool {
        DocumentRoot.name(beginning).map { $0.elementsEqual("multistatus".utf8) } ?? false
    }

    /// Parses the next bytes. Returns the files and folders that are complete.
    public func parse(_ bytes: [UInt8]) throws -> ListingPiece {
        try stream.push(bytes) { event in try self.take(event) }
        return takePiece()
    }

    /// Parses the end of the document. Throws if the answer is incomplete.
    public func finish() throws -> ListingPiece {
        try stream.finish { event in try self.take(event) }
        return takePiece()
    }

    private func takePiece() -> ListingPiece {
        defer { piece = ListingPiece() }
        return piece
    }

    private func take(_ event: XMLPushStream.Event) throws {
        switch event {
        case .start(let name, let namespace, _, _):
            let element = Element(name, namespace, in: open.last)
            guard !open.isEmpty || element == .multistatus else { throw FormatError.otherDocument(name) }
            open.append(element)
            start(element)
        case .text(let bytes, let line):
            guard open.last?.hasText == true else { return }
            guard text.count + bytes.count <= Self.maximumText else { throw FormatError.tooLong(line: line) }
            text.append(contentsOf: bytes)
        case .end:
            if let element = open.popLast() { end(element) }
        }
    }

    private func start(_ element: Element) {
        switch element {
        case .response: (reference, properties) = (nil, nil)
        case .propstat: (written, isSuccess) = (Properties(), false)
        case .collection: written.isFolder = true
        default: if element.hasText { text.removeAll(keepingCapacity: true) }
        }
    }

    /// Returns a reference without its scheme and host.
    ///
    /// Behind a TLS proxy, many servers write `http` addresses, or addresses of an internal host. The parser uses only
    /// the names below the folder, so Vitrine requests nothing from another host.
    private static func path(of reference: String) -> String {
        for scheme in ["http://", "https://"] where reference.lowercased().hasPrefix(scheme) {
            let rest = reference.utf8.dropFirst(scheme.utf8.count)
            return rest.firstIndex(of: UInt8(ascii: "/")).map { String(reference[$0...]) } ?? reference
        }
        return reference
    }

    private func end(_ element: Element) {
        switch element {
        case .reference: if reference == nil { reference = Self.path(of: trimmedText) }
        case .status: isSuccess = Self.isSuccess(trimmedText)
        case .size: written.size = trimmedText
        case .modified: written.modified = trimmedText
        case .etag: written.etag = trimmedText
        case .number: written.number = trimmedText
        case .hasPreview: written.hasPreview = trimmedText == "true"
        case .taken: written.taken = trimmedText
        case .count: written.count = trimmedText
        case .propstat: if isSuccess { properties = properties.map { $0.completed(by: written) } ?? written }
        case .response: add()
        default: break
        }
    }

    private var trimmedText: String { String(decoding: text.trimmedOfWhiteSpace, as: UTF8.self) }

    /// Returns whether a status such as `HTTP/1.1 200 OK` has the code 2xx.
    private static func isSuccess(_ status: String) -> Bool {
        let fields = status.utf8.split(separator: UInt8(ascii: " "))
        return fields.count >= 2 && fields[1].count == 3 && fields[1].first == UInt8(ascii: "2")
    }

    /// Adds the response that has ended.
    private func add() {
        guard let reference, let properties, let target = try? folder.address.resolving(reference),
            target.origin == folder.address.origin, target.query == nil
        else { return }
        guard let (name, endsWithSlash) = folder.name(of: target) else {
            if folder.isItself(target), let etag = properties.validator { piece.etag = etag }
            return
        }
        if properties.isFolder || endsWithSlash {
            guard ListedSubfolder.isWanted(name) else { return }
            let count = AlbumText.count(properties.count.utf8)
            piece.folders.append(ListedSubfolder(name: name, etag: properties.validator, count: count))
        } else if PictureName.isPictureOrVideo(name[...]) {
            piece.files.append(properties.file(named: name, previews))
        }
    }

    /// An element of the answer. Its meaning depends on its parent element.
    private enum Element {
        case multistatus, response, reference, propstat, status, prop
        case type, collection, size, modified, etag, number, hasPreview, taken, count
        case other

        init(_ name: UnsafePointer<xmlChar>, _ namespace: UnsafePointer<xmlChar>?, in parent: Element?) {
            guard let namespace else {
                self = .other
                return
            }
            if namespace == XMLName.dav {
                self = Self.standard(name, in: parent)
            } else if parent == .prop, name == XMLName.number, namespace == XMLName.ownCloud {
                self = .number
            } else if parent == .prop, namespace == XMLName.nextcloud {
                self = Self.nextcloud(name)
            } else {
                self = .other
            }
        }

        private static func nextcloud(_ name: UnsafePointer<xmlChar>) -> Element {
            if name == XMLName.hasPreview { return .hasPreview }
            if name == XMLName.count { return .count }
            return name == XMLName.taken ? .taken : .other
        }

        private static func standard(_ name: UnsafePointer<xmlChar>, in parent: Element?) -> Element {
            switch parent {
            case nil where name == XMLName.multistatus: .multistatus
            case .multistatus where name == XMLName.response: .response
            case .response where name == XMLName.propstat: .propstat
            case .response where name == XMLName.href: .reference
            case .propstat where name == XMLName.prop: .prop
            case .propstat where name == XMLName.status: .status
            case .prop where name == XMLName.type: .type
            case .prop where name == XMLName.size: .size
            case .prop where name == XMLName.modified: .modified
            case .prop where name == XMLName.etag: .etag
            case .type where name == XMLName.collection: .collection
            default: .other
            }
        }

        var hasText: Bool {
            switch self {
            case .reference, .status, .size, .modified, .etag, .number, .hasPreview, .taken, .count: true
            default: false
            }
        }
    }

    /// The properties of a member, as the server wrote them.
    private struct Properties {
        var isFolder = false
        var size = ""
        var modified = ""
        var etag = ""
        var number = ""
        var hasPreview = false
        var taken = ""
        var count = ""

        /// The maximum number of bytes of a validator. Longer validators count as missing.
        private static let maximumValidator = 256

        /// Returns these properties, with missing properties taken from `other`.
        func completed(by other: Properties) -> Properties {
            var all = self
            all.isFolder = isFolder || other.isFolder
            all.hasPreview = hasPreview || other.hasPreview
            for path in [\Properties.size, \.modified, \.etag, \.number, \.taken, \.count]
            where self[keyPath: path].isEmpty {
                all[keyPath: path] = other[keyPath: path]
            }
            return all
        }

        /// The member's validator; nil if the validator is missing or too long.
        var validator: String? { etag.isEmpty || etag.utf8.count > Self.maximumValidator ? nil : etag }

        private var revision: String {
            if let validator { return validator }
            guard !(size.isEmpty && modified.isEmpty) else { return "" }
            let text = "\(size)-\(modified)"
            return text.utf8.count <= Self.maximumValidator ? text : ""
        }

        /// The time when the photo was taken; nil if unknown.
        ///
        /// The server states seconds since 1970. Nextcloud knows no time zone of a photo, so it takes the camera's clock
        /// for UTC.
        private var dateTaken: Timestamp? {
            let digits = taken.utf8.first == UInt8(ascii: "-") ? taken.dropFirst() : taken[...]
            // Nextcloud writes 0 if it does not know the date. Eleven digits reach to the year 5138. With twelve digits,
            // the user's time zone could move the date beyond the years that the cache accepts.
            guard (1...11).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let seconds = Double(taken), seconds != 0
            else { return nil }
            return Timestamp(milliseconds: 0).advanced(by: seconds)
        }

        func file(named name: [UInt8], _ previews: Previews?) -> ListedFile {
            let (dateTaken, dateModified) = (dateTaken, ListingDate.moment(modified))
            var file = ListedFile(
                name: name, date: dateTaken ?? dateModified, revision: revision,
                thumbnail: hasPreview ? previews?.address(ofFile: number, named: name) : nil)
            // If the photo has no date, Nextcloud states the file's modification time in its place.
            file.isDateTaken = dateTaken != nil && dateTaken != dateModified
            return file
        }
    }
}

extension XMLName {
    fileprivate static let dav = Self("DAV:")
    fileprivate static let ownCloud = Self("http://owncloud.org/ns")
    fileprivate static let nextcloud = Self("http://nextcloud.org/ns")
    fileprivate static let multistatus = Self("multistatus")
    fileprivate static let response = Self("response")
    fileprivate static let href = Self("href")
    fileprivate static let propstat = Self("propstat")
    fileprivate static let status = Self("status")
    fileprivate static let prop = Self("prop")
    fileprivate static let type = Self("resourcetype")
    fileprivate static let collection = Self("collection")
    fileprivate static let size = Self("getcontentlength")
    fileprivate static let modified = Self("getlastmodified")
    fileprivate static let etag = Self("getetag")
    fileprivate static let number = Self("fileid")
    fileprivate static let hasPreview = Self("has-preview")
    fileprivate static let count = Self("nbItems")
    fileprivate static let taken = Self("metadata-photos-original_date_time")
}

/// Parses a Nextcloud server's list of a user's albums. The list is an answer to `PROPFIND`.
public final class NextcloudAlbumParser: LibraryParser {
    private let pages: Address
    private let parser: WebDAVParser

    /// Creates a parser for one answer.
    ///
    /// - Parameters:
    ///   - folder: the address of the list, with a slash at its end.
    ///   - pages: the address below which a browser shows the albums, with a slash at its end.
    public init(folder: Address, pages: Address) {
        self.pages = pages
        parser = WebDAVParser(folder: ListedFolder(folder))
    }

    /// Parses the next bytes. Returns the albums that are complete.
    public func parse(_ bytes: [UInt8]) throws -> [Album] { albums(try parser.parse(bytes)) }

    /// Parses the end of the document. Throws if the answer is incomplete.
    public func finish() throws -> [Album] { albums(try parser.finish()) }

    private func albums(_ piece: ListingPiece) -> [Album] {
        piece.folders.compactMap { folder in
            let name = PercentEncoding.encode(folder.name, keepingEscapes: false)
            // Without `./`, a name with a colon would look like a URL with a scheme.
            guard let address = try? pages.resolving("./\(name)"), address.text.utf8.count <= Address.maximumLength
            else { return nil }
            return Album(.album, at: address, name: AlbumText.name(folder.name), count: folder.count)
        }
    }
}
