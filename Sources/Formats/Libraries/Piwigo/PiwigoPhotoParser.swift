import Model

/// Parses a page of a Piwigo server's photos.
///
///     {"stat": "ok", "result": {"paging": {"page": 0, "per_page": 500, "total_count": 1},
///      "images": [{"id": 7, "file": "a.jpg", "element_url": "…", "derivatives": {"2small": {"url": "…", …}, …}, …}]}}
///
/// Files that Vitrine cannot show are left out. A video appears with the server's still picture, or not at all if there
/// is none. Members may be in any order, and the parser skips unknown ones.
public final class PiwigoPhotoParser: LibraryParser {
    /// The number that shows whether another page follows.
    public enum Total: Sendable {
        /// The number of all photos in the listed albums.
        case ofAlbums
        /// The number of the user's favorites. It has another name in the answer.
        case ofFavorites
        /// A count of only the page's own photos, as for a tag. So the parser expects another page after each full
        /// page.
        case unreliable
    }

    private var answer: PiwigoAnswer<PiwigoPageReader>

    /// Creates a parser for one page.
    ///
    /// - Parameters:
    ///   - server: the address of the server, with a slash at its end.
    ///   - total: the number that shows whether another page follows.
    public init(server: Address, total: Total = .ofAlbums) {
        answer = PiwigoAnswer(PiwigoPageReader(PiwigoPictures(server: server), total: total))
    }

    /// Parses the next bytes. Returns the photos that are complete.
    public func parse(_ bytes: [UInt8]) throws -> [LibraryPhoto] { try answer.parse(bytes) }

    /// Parses the end of the document. Throws if the answer is incomplete, or is no page of photos.
    public func finish() throws -> [LibraryPhoto] { try answer.finish() }

    /// The number of the page that follows; nil after the last page.
    public var nextPage: String? { answer.result.nextPage }

    /// Whether the page has files, but no photos that Vitrine can show.
    public var mayLackPhotos: Bool { answer.result.hasOnlyOthers }
}

/// Reads the events of a page's JSON.
private struct PiwigoPageReader: ItemReader {
    private enum Section { case paging, images }
    private enum Number { case page, length, total }

    private let pictures: PiwigoPictures
    private let totalKind: PiwigoPhotoParser.Total
    var items: [LibraryPhoto] = []
    /// The number of files on the page, including those that are no photos.
    private var fileCount = 0
    private var image = PiwigoImage()
    private var section: Section?
    private var number: Number?
    private var (isInList, isInImage) = (false, false)
    private var isPage = false
    private var hasPhotos = false
    private var (page, length, total): (Int?, Int?, Int?)

    init(_ pictures: PiwigoPictures, total: PiwigoPhotoParser.Total) {
        (self.pictures, totalKind) = (pictures, total)
    }

    private var totalName: String { totalKind == .ofFavorites ? "count" : "total_count" }

    var hasOnlyOthers: Bool { fileCount > 0 && !hasPhotos }

    /// Throws if the answer is no page of photos. A page has a list of photos, and numbers that show whether another
    /// page follows.
    func check() throws {
        guard isPage, page != nil, let length, length > 0, total != nil || totalKind == .unreliable else {
            throw FormatError.notAGallery("an answer without photos")
        }
    }

    var nextPage: String? {
        guard let page, let length else { return nil }
        if totalKind == .unreliable { return fileCount >= length ? String(page + 1) : nil }
        // The numbers are at most a billion, so nothing overflows.
        return total.map { (page + 1) * length < $0 } == true ? String(page + 1) : nil
    }

    mutating func take(_ event: JSONEvent, depth: Int) throws {
        if isInImage {
            if depth > 2 { return image.take(event, depth: depth - 3) }
            isInImage = false
            fileCount += 1
            if let photo = image.photo(pictures) {
                items.append(photo)
                hasPhotos = true
            }
            return
        }
        switch (depth, event) {
        case (0, .beginObject), (0, .endObject): break
        case (0, _): throw FormatError.notAGallery("an answer without photos")
        case (1, .key(let name)):
            section = name.isText("paging") ? .paging : name.isText("images") ? .images : nil
        case (1, .beginArray) where section == .images: (isInList, isPage) = (true, true)
        case (1, .endArray): isInList = false
        case (2, .beginObject) where isInList:
            isInImage = true
            image = PiwigoImage()
        case (2, .key(let name)) where section == .paging:
            number =
                switch name.count {
                case 4 where name.isText("page"): .page
                case 8 where name.isText("per_page"): .length
                case _ where name.elementsEqual(totalName.utf8): .total
                default: nil
                }
        case (2, _) where section == .paging && number == .page: page = PiwigoValue.number(event)
        case (2, _) where section == .paging && number == .length: length = PiwigoValue.number(event)
        case (2, _) where section == .paging && number == .total: total = PiwigoValue.number(event)
        default: break
        }
    }
}

/// The members of the object that describes a photo or another file.
private struct PiwigoImage {
    private enum Member { case id, file, name, comment, width, height, taken, posted, address, sizes }

    /// A picture that the server makes from the file.
    private struct Size {
        var address: [UInt8] = []
        var (width, height) = (0, 0)
        var isCropped = false

        var longSide: Int { max(width, height) }
    }

    /// The maximum number of bytes of a name that are kept.
    private static let longestName = 1_024
    /// The maximum number of bytes of a description that are kept.
    private static let longestComment = 4_096
    /// The smallest useful length of a thumbnail's longer side. Piwigo's own sizes are 240 and 432.
    private static let usefulLength = 240

    private var member: Member?
    private var id: String?
    private var (file, name, comment) = ("", "", "")
    private var (width, height) = (0, 0)
    private var (taken, posted): (Timestamp?, Timestamp?)
    private var address: [UInt8] = []
    private var isInSizes = false
    private var size = Size()
    private var sizeMember: SizeMember?
    private var (thumbnail, largest): (Size?, Size?)

    private enum SizeMember { case address, width, height }

    /// Reads the name or the value of a member. The members of the file itself have the depth 0.
    mutating func take(_ event: JSONEvent, depth: Int) {
        guard depth == 0 else { return takeSize(event, depth: depth) }
        switch (member, event) {
        case (_, .key(let name)): member = Self.member(name)
        case (.id, _): id = PiwigoValue.id(event)
        case (.file, .string(let text)): file = text.text(atMost: Self.longestName)
        case (.name, .string(let text)): name = text.text(atMost: Self.longestName)
        case (.comment, .string(let text)):
            comment = text.text(atMost: Self.longestComment)
        case (.width, _): width = PiwigoValue.number(event) ?? 0
        case (.height, _): height = PiwigoValue.number(event) ?? 0
        case (.taken, _): taken = PiwigoValue.time(event)
        case (.posted, _): posted = PiwigoValue.time(event)
        case (.address, .string(let text)): address = Self.address(text)
        case (.sizes, .beginObject): isInSizes = true
        case (.sizes, .endObject): isInSizes = false
        default: break
        }
    }

    private static func member(_ name: UnsafeRawBufferPointer) -> Member? {
        switch name.count {
        case 2 where name.isText("id"): .id
        case 4 where name.isText("file"): .file
        case 4 where name.isText("name"): .name
        case 5 where name.isText("width"): .width
        case 6 where name.isText("height"): .height
        case 7 where name.isText("comment"): .comment
        case 11 where name.isText("derivatives"): .sizes
        case 11 where name.isText("element_url"): .address
        case 13 where name.isText("date_creation"): .taken
        case 14 where name.isText("date_available"): .posted
        default: nil
        }
    }

    /// Reads a member of `derivatives`, or of one size in it.
    private mutating func takeSize(_ event: JSONEvent, depth: Int) {
        guard isInSizes else { return }
        switch (depth, event) {
        case (1, .key(let name)):
            size = Size()
            size.isCropped = name.isText("square")
        case (1, .endObject):
            guard !size.address.isEmpty else { return }
            if isBetterThumbnail(size) { thumbnail = size }
            if !size.isCropped, size.longSide > largest?.longSide ?? -1 { largest = size }
        case (2, .key(let name)):
            sizeMember =
                name.isText("url") ? .address : name.isText("width") ? .width : name.isText("height") ? .height : nil
        case (2, .string(let text)) where sizeMember == .address: size.address = Self.address(text)
        case (2, _) where sizeMember == .width: size.width = PiwigoValue.number(event) ?? 0
        case (2, _) where sizeMember == .height: size.height = PiwigoValue.number(event) ?? 0
        default: break
        }
    }

    /// Returns the text of an address. Returns no bytes for an address that is too long to store.
    private static func address(_ text: UnsafeRawBufferPointer) -> [UInt8] {
        text.count <= Address.maximumLength ? Array(text) : []
    }

    /// Returns whether a size is a better thumbnail than the current one. Squares show only a part of the photo.
    private func isBetterThumbnail(_ size: Size) -> Bool {
        guard let thumbnail else { return true }
        guard size.isCropped == thumbnail.isCropped else { return thumbnail.isCropped }
        let (isUseful, wasUseful) = (size.longSide >= Self.usefulLength, thumbnail.longSide >= Self.usefulLength)
        guard isUseful == wasUseful else { return isUseful }
        return isUseful ? size.longSide < thumbnail.longSide : size.longSide > thumbnail.longSide
    }

    /// Returns the photo. Returns nil for a file that Vitrine cannot show, and for an object without an id.
    func photo(_ pictures: PiwigoPictures) -> LibraryPhoto? {
        guard let id, let photo = photoAddress(pictures) else { return nil }
        var annotations = PhotoAnnotations()
        annotations.description = comment
        return LibraryPhoto(
            id: id, name: !name.isEmpty ? name : !file.isEmpty ? file : id,
            // The server states both times without a zone.
            date: taken.map { .cameraTime($0) } ?? posted.map { .published($0) },
            revision: "\(width)x\(height) \(file)",
            photo: photo, thumbnail: thumbnail.flatMap { pictures.address($0.address) },
            annotations: annotations,
            // The server does not state how long a video is.
            videoMilliseconds: Self.isVideo(file) ? 0 : nil)
    }

    /// Returns the address of the original. If the user may not see originals, or Vitrine cannot decode the file,
    /// returns the address of the server's largest picture. Returns nil if there is no such picture.
    private func photoAddress(_ pictures: PiwigoPictures) -> Address? {
        if PictureName.isFinished(Array(file.utf8)[...]) {
            return pictures.address(address) ?? largest.flatMap { pictures.address($0.address) }
        }
        guard !Self.isAudio(file), let largest, let address = pictures.address(largest.address),
            PiwigoPictures.isMadeFromFile(address)
        else { return nil }
        return address
    }

    private static func isVideo(_ file: String) -> Bool { videos.contains(ending(of: file)) }

    private static func isAudio(_ file: String) -> Bool { sounds.contains(ending(of: file)) }

    private static func ending(of file: String) -> String {
        file.lastIndex(of: ".").map { file[file.index(after: $0)...].lowercased() } ?? ""
    }

    private static let videos: Set<String> = [
        "3gp", "avi", "flv", "m2ts", "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "mts", "ogv", "webm", "webmv", "wmv",
    ]
    private static let sounds: Set<String> = ["flac", "m4a", "mp3", "oga", "ogg", "opus", "wav"]
}

/// The addresses of a Piwigo server's pictures.
struct PiwigoPictures {
    private let server: Address

    /// Creates the addresses.
    ///
    /// - Parameter server: the address of the server, with a slash at its end.
    init(server: Address) {
        self.server = server.asFolder
    }

    /// Parses an address in the server's answer. Returns nil if the text is no address of a web server.
    func address(_ text: [UInt8]) -> Address? {
        guard !text.isEmpty, let address = try? server.resolving(String(decoding: text, as: UTF8.self)),
            address.scheme == .http || address.scheme == .https
        else { return nil }
        guard address.host == server.host, address.port == server.port, address.path.hasPrefix(server.path) else {
            return address
        }
        let path = address.path.dropFirst(server.path.count)
        let query = address.query.map { "?" + $0 } ?? ""
        // The result has the scheme of `server`. Behind a proxy, a server may write `http`, although browsers use
        // `https`.
        return try? server.resolving(server.path + (Self.picture(path, query).map { "i.php?/" + $0 } ?? path + query))
    }

    /// Returns the path of a picture that the server makes. Returns nil for other addresses.
    ///
    /// As soon as the server has made the picture, it writes another address: `_data/i/upload/a-th.jpg` instead of
    /// `i.php?/upload/a-th.jpg`. Vitrine always uses the second form, which works in both cases. Otherwise, each
    /// picture would seem to have changed after the first request for it.
    private static func picture(_ path: Substring, _ query: String) -> Substring? {
        if path == "i.php" || path == "i" { return query.hasPrefix("?/") ? query.dropFirst(2) : nil }
        guard query.isEmpty else { return nil }
        for beginning in ["_data/i/", "i.php/", "i/"] where path.hasPrefix(beginning) {
            return path.dropFirst(beginning.count)
        }
        return nil
    }

    /// Returns whether a picture was made from a file. The other pictures are icons for kinds of files.
    static func isMadeFromFile(_ address: Address) -> Bool {
        let path = address.query.map { $0.hasPrefix("/") ? $0 : address.path } ?? address.path
        guard !path.contains("/mimetypes/"), let slash = path.lastIndex(of: "/") else { return false }
        return PictureName.isFinished(Array(path[path.index(after: slash)...].utf8)[...])
    }
}
