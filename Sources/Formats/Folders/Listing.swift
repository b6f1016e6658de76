import Model

/// Parses the list of a server's folder, piece by piece.
///
///     let parser = ListingFormat.html.makeParser(for: folder)
///     for try await bytes in body { take(try parser.parse(bytes)) }
///     take(try parser.finish())
///
/// The list is untrusted. A parser limits depths and lengths. Its memory use does not grow with the list, except for
/// about 30 bytes per entry of a web page. A parser returns only files and folders directly in the folder (see
/// ``ListedFolder/name(of:)``), and the photos to which a web page links.
public protocol ListingParser: AnyObject {
    /// Parses the next bytes. Returns the files and folders that are complete.
    func parse(_ bytes: [UInt8]) throws -> ListingPiece
    /// Parses the end of the document. Throws if the list is incomplete.
    func finish() throws -> ListingPiece
}

/// A piece of a folder's list.
public struct ListingPiece: Equatable, Sendable {
    /// The pictures and videos in this piece.
    public var files: [ListedFile] = []
    /// The subfolders in this piece.
    public var folders: [ListedSubfolder] = []
    /// The validator (`ETag`) of the folder itself; nil if the list states none.
    public var etag: String?

    /// The paths of photos and folders that no address can contain.
    public var skipped: [String] = []
    /// The token of the list's next page; nil if this is the last page.
    public var nextPage: String?

    /// The number of entries of Caddy's list in this piece, also of those that Vitrine does not show. Caddy cuts long
    /// lists. Zero for other servers.
    public var caddyEntryCount = 0
    /// Whether the piece has a link to the parent folder. The list of an empty folder has only such a link.
    public var hasParentLink = false
    /// The address of the first feed to which the web page refers; nil if none was found so far. The feed is on the
    /// page's own server.
    public var feed: Address?
    /// Whether a bucket's folder contains a published gallery's list, ``BucketParser/galleryFile``. False for other
    /// servers.
    public var hasGalleryFile = false

    /// Creates a piece.
    public init(files: [ListedFile] = [], folders: [ListedSubfolder] = [], etag: String? = nil) {
        (self.files, self.folders, self.etag) = (files, folders, etag)
    }
}

/// A picture or video in a folder's list.
public struct ListedFile: Equatable, Sendable {
    /// The bytes of the file's name. They need not be UTF-8.
    public var name: [UInt8]
    /// The bytes of the name to show; nil to show the file's name.
    public var shownName: [UInt8]?
    /// The time when the file was last modified or the photo was taken; nil if unknown.
    public var date: Timestamp?
    /// Whether the date is the time when the photo was taken. Such a date is the camera's clock, as if it were UTC.
    public var isDateTaken = false
    /// A string that changes whenever the file's bytes change: an `ETag`, or size and date. Empty if unknown.
    public var revision: String
    /// The address of a small picture of the photo; nil if the list has no small picture.
    public var thumbnail: Address?
    /// The address of the photo if the photo is outside the folder; nil if the photo is the file with this name in the
    /// folder.
    public var photo: Address?

    /// Creates a file.
    public init(
        name: [UInt8], date: Timestamp? = nil, revision: String = "", thumbnail: Address? = nil, photo: Address? = nil
    ) {
        (self.name, self.date, self.revision, self.thumbnail, self.photo) = (name, date, revision, thumbnail, photo)
    }
}

/// Removes the videos of live photos from a folder's list.
///
/// A photo may come after its video, so a video without a known photo waits for the photo, at most until the list ends.
///
/// The filter's memory is bounded. It remembers at least the last 20,000 photos, and at most 20,000 videos wait. So the
/// filter works for a folder of any length if each video is near its photo, as in a sorted list. If more photos or
/// videos than that are between a video and its photo, the list shows the video.
public struct LivePhotoFilter {
    private var photos = LivePhotos(limit: 20_000)
    private var waiting: [ListedFile] = []
    /// The number of files since the last check of waiting videos.
    private var unjudged = 0

    private static let mostWaiting = 20_000
    /// The maximum number of files that the filter records at once. This is far below the number of photos that it
    /// remembers.
    private static let filesAtOnce = 1_000

    /// Creates a filter for one folder.
    public init() {}

    /// Returns the files of a piece, without videos that may belong to live photos.
    public mutating func filter(_ files: [ListedFile]) -> [ListedFile] {
        var passed: [ListedFile] = []
        var rest = files[...]
        while !rest.isEmpty {
            passed += filter(some: rest.prefix(Self.filesAtOnce))
            rest = rest.dropFirst(Self.filesAtOnce)
        }
        return passed
    }

    private mutating func filter(some files: ArraySlice<ListedFile>) -> [ListedFile] {
        for file in files { photos.record(file.photoName) }
        unjudged += files.count
        // The waiting videos are not checked with each piece: there may be many such videos and many small pieces.
        if unjudged >= max(Self.filesAtOnce, waiting.count / 2) { dropVideos() }
        return files.filter { file in
            guard LivePhotos.mayBeVideo(file.name[...]) else { return true }
            guard !photos.isVideo(file.photoName) else { return false }
            guard waiting.count < Self.mostWaiting else { return true }
            waiting.append(file)
            return false
        }
    }

    private mutating func dropVideos() {
        waiting.removeAll { photos.isVideo($0.photoName) }
        unjudged = 0
    }

    /// Returns the waiting videos that belong to no photo of the list.
    public mutating func finish() -> [ListedFile] {
        dropVideos()
        defer { waiting = [] }
        return waiting
    }
}

extension ListedFile {
    fileprivate var photoName: ArraySlice<UInt8> { (shownName ?? name)[...] }
}

extension ListedFile {
    /// Hides the number before an album photo's name, as in `7-sunset.jpg`. Nextcloud adds such numbers.
    public mutating func hideAlbumNumber() {
        let rest = name.drop { (0x30...0x39).contains($0) }
        guard rest.startIndex > 0, rest.first == UInt8(ascii: "-"), PictureName.isPictureOrVideo(rest.dropFirst())
        else {
            return
        }
        shownName = Array(rest.dropFirst())
    }
}

/// A folder in a folder's list.
public struct ListedSubfolder: Hashable, Sendable {
    /// The bytes of the folder's name. They need not be UTF-8.
    public var name: [UInt8]
    /// The validator (`ETag`) of the folder; nil if the list states none.
    public var etag: String?
    /// The number of photos in an album of Nextcloud; nil if unknown.
    public var count: Int?

    /// Creates a folder.
    public init(name: [UInt8], etag: String? = nil, count: Int? = nil) {
        (self.name, self.etag, self.count) = (name, etag, count)
    }

    /// The names of folders that systems and programs create. They contain no photos of the user.
    private static let ignored = Set(
        ["@eaDir", "#recycle", ".thumbnails", ".hist", "lost+found"].map { Array($0.utf8) })

    /// Returns whether Vitrine reads a folder. Vitrine skips hidden folders, and folders of systems and programs.
    public static func isWanted(_ name: [UInt8]) -> Bool {
        name.first != UInt8(ascii: ".") && !ignored.contains(name)
    }
}

/// The folder on a server that a list describes.
public struct ListedFolder: Hashable, Sendable {
    /// The address of the folder, with a slash at its end.
    public let address: Address
    /// The decoded bytes of the address's path.
    private let path: [UInt8]

    /// Creates a folder. A missing slash at the end of the path is added, and a query is dropped.
    public init(_ address: Address) {
        self.address = address.asFolder
        path = PercentEncoding.decodedBytes(self.address.path)
    }

    /// Returns the decoded name of the member to which a reference leads. A member is a file or folder directly in this
    /// folder.
    ///
    /// Returns nil for everything else: other servers, places above and below, this folder, and references with a
    /// query. Different encodings of the same name have the same result.
    public func name(of reference: String) -> (name: [UInt8], isFolder: Bool)? {
        guard let target = try? address.resolving(reference), target.query == nil, target.origin == address.origin
        else { return nil }
        return name(of: target)
    }

    /// Returns the decoded name of the member at an address. A member is a file or folder directly in this folder.
    public func name(of target: Address) -> (name: [UInt8], isFolder: Bool)? {
        let bytes = PercentEncoding.decodedBytes(target.path)
        guard bytes.count > path.count, bytes.starts(with: path) else { return nil }
        var name = Array(bytes[path.count...])
        let isFolder = name.last == UInt8(ascii: "/")
        if isFolder { name.removeLast() }
        guard Self.isSound(name) else { return nil }
        return (name, isFolder)
    }

    /// Returns whether an address leads to this folder. Percent escapes and the slash at the end make no difference.
    public func isItself(_ target: Address) -> Bool {
        target.origin == address.origin && PercentEncoding.decodedBytes(target.asFolder.path) == path
    }

    /// Returns whether an address leads to the parent folder.
    func isDirectlyIn(_ target: Address) -> Bool {
        let outer = PercentEncoding.decodedBytes(target.asFolder.path)
        return path.count > outer.count + 1 && path.starts(with: outer)
            && path[outer.count...].dropLast().allSatisfy { $0 != UInt8(ascii: "/") }
    }

    /// Returns whether bytes can be the name of one file. The name must not be empty, too long, `.` or `..`, and must
    /// contain no slash and no zero byte.
    public static func isSound(_ name: [UInt8]) -> Bool {
        !name.isEmpty && !name.contains(UInt8(ascii: "/")) && !name.contains(0) && name != [0x2E]
            && name != [0x2E, 0x2E] && name.count <= maximumName
    }

    /// The maximum number of bytes of a name. File systems allow at most 255 bytes; some servers allow more.
    private static let maximumName = 1_024
}
