import Files
import Glibc
import Model

/// A photo in the gallery's list, with the name of its thumbnail.
struct PublishedPhoto: Hashable, Sendable {
    var name: String
    var date: Timestamp
    /// The number of changes to the photo since its first publication.
    var revision: Int
    /// Whether the photo's file is truncated.
    var isCutShort: Bool
    var thumbnail: ThumbnailName
    /// The size of the thumbnail file, in bytes.
    var thumbnailSize: Int64
}

/// The files of a published gallery, for programs that copy them.
public struct PublishedGallery: Sendable {
    /// The photos in the order of the list, each with its thumbnail.
    public let photos: [(original: PublishedFile, thumbnail: PublishedFile)]
    /// The list. Copy the list last, since it names the other files.
    public let list: PublishedFile

    /// Reads the record of a finished run.
    init(_ folder: OpenFolder, _ thumbnails: OpenFolder?, _ record: PublishRecord) throws(PublishingError) {
        var photos: [(original: PublishedFile, thumbnail: PublishedFile)] = []
        if let thumbnails {
            record.forEachProcessed { line in
                guard let photo = line.photo else { return }
                let name = photo.thumbnail.text
                photos.append(
                    (
                        PublishedFile(folder, PercentEncoding.decode(line.reference), line.stamp.size, line.stamp),
                        PublishedFile(thumbnails, name, photo.thumbnailSize, path: "\(ListText.thumbnails)/\(name)")
                    ))
            }
        }
        guard let status = folder.status(ListFile.name) else { throw .failed(folder.path(ListFile.name)) }
        let stamp = FileStamp(status)
        (self.photos, list) = (photos, PublishedFile(folder, ListFile.name, stamp.size, stamp))
    }
}

/// A file of a published gallery, in the version that was published.
public struct PublishedFile: Sendable {
    /// The path below the published folder.
    public let path: String
    /// The size in bytes.
    public let size: Int64
    private let folder: OpenFolder
    private let name: String
    /// The version of the file; nil for a thumbnail, whose name changes with each version.
    private let stamp: FileStamp?

    fileprivate init(
        _ folder: OpenFolder, _ name: String, _ size: Int64, _ stamp: FileStamp? = nil, path: String? = nil
    ) {
        (self.folder, self.name, self.size, self.stamp) = (folder, name, size, stamp)
        self.path = path ?? name
    }

    /// Opens the file. The caller closes the descriptor. Throws an error if the file has changed.
    ///
    /// - Returns: the descriptor and the media type.
    public func open() throws(PublishingError) -> (descriptor: Int32, mediaType: String) {
        guard let file = folder.file(name) else { throw .failed(path) }
        var status = stat()
        let isSame = fstat(file, &status) == 0 && Int64(status.st_size) == size
        guard isSame, stamp == nil || stamp == FileStamp(status) else {
            close(file)
            throw .changed(path: path)
        }
        do throws(SystemError) {
            let head = try OpenFile.beginning(of: file, count: PictureSignature.length)
            return (file, path == ListFile.name ? "application/xml" : PictureSignature.mediaType(head))
        } catch {
            close(file)
            throw .failed(path, error)
        }
    }
}

/// The path of a photo below the published folder, such as `summer/Lake #2.jpg`.
struct PhotoPath: Hashable, Sendable {
    /// The path in the file system, relative to the published folder.
    let text: String

    /// The relative address, such as `summer/Lake%20%232.jpg`, which is also the photo's id.
    ///
    /// The id changes only when the file moves. The id is unique, because decoding it gives the path. The id is ASCII,
    /// so that two ids never look the same; in Unicode, an accented letter can be written in two ways.
    ///
    /// Only unreserved characters (RFC 3986, section 2.3) stay unescaped. An unescaped colon would turn the first word
    /// into a scheme.
    let reference: String

    init(_ text: String) {
        self.text = text
        reference = Self.escaped(text, keepingSlashes: true)
    }

    /// The file's name without its extension.
    var stem: String {
        let name = text[(text.lastIndex(of: "/").map { text.index(after: $0) } ?? text.startIndex)...]
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return String(name) }
        return String(name[..<dot])
    }

    /// Whether the address is short enough for the gallery parser.
    var canBePublished: Bool { reference.utf8.count <= Self.longest }

    private static let longest = 4_096

    /// Returns the text with all characters percent-encoded except letters, digits and `-._~`.
    static func escaped(_ text: String, keepingSlashes: Bool = false) -> String {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                escaped.append(byte)
            case UInt8(ascii: "/") where keepingSlashes: escaped.append(byte)
            default: escaped += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x41 + value - 10 }
}

/// Makes a photo's name in the gallery from the title or the file name.
enum PhotoName {
    /// Returns the title, or the file name if the title is empty. The result has no control characters.
    static func text(title: String?, path: PhotoPath) -> String {
        let candidates = [title.map(clean), clean(path.stem), clean(path.text)]
        return candidates.lazy.compactMap { $0 }.first { !$0.isEmpty } ?? path.reference
    }

    /// Returns the text on one line without control characters. XML cannot contain control characters (XML 1.0, section
    /// 2.2). Line breaks become spaces. Other control characters become visible symbols, so that readers notice them.
    private static func clean(_ text: String) -> String {
        var clean = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x09...0x0D, 0x85, 0x2028, 0x2029: clean.append(" ")
            case 0x00...0x1F: clean.append(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}")
            case 0x7F: clean.append("\u{2421}")
            case 0x80...0x9F, 0xFFFE, 0xFFFF: clean.append("\u{FFFD}")
            default: clean.append(scalar)
            }
        }
        let start = clean.firstIndex { $0 != " " } ?? clean.endIndex
        guard let last = clean.lastIndex(where: { $0 != " " }) else { return "" }
        return String(clean[start...last])
    }
}

/// Determines the date of a photo in the gallery.
enum PhotoDate {
    /// Returns the camera's time, or else the file's modification time. The result is within the years that a list can
    /// express.
    ///
    /// - Parameters:
    ///   - takenAt: the camera's local time, "2006-07-30T07:47:17", in this machine's zone, or UTC with a "Z" at the
    ///     end.
    ///   - revision: the number of changes since the photo was first published. Clients fetch a photo again when its
    ///     date changes, but retouching does not change the camera's time. So each revision adds a millisecond, which
    ///     is too little to change the order.
    static func moment(takenAt: String?, modified: FileStamp, revision: Int) -> Timestamp {
        let taken = takenAt.flatMap { Timestamp(takenAt: $0) }?.seconds
        var moment = Timestamp(milliseconds: clamped(taken ?? modified.seconds) * 1_000)
        moment.milliseconds += Int64(revision % 1_000)
        return moment
    }

    /// Limits a time to the years 1 to 9999.
    private static func clamped(_ seconds: Int64) -> Int64 { max(firstSecond, min(lastSecond, seconds)) }

    /// The first and the last second that a list can express: 0001-01-01T00:00:00Z and 9999-12-31T23:59:58Z.
    private static let firstSecond: Int64 = -62_135_596_800
    private static let lastSecond: Int64 = 253_402_300_798
}
