/// A photo, with the cached data that a row of a list needs.
public struct Photo: Hashable, Identifiable, Sendable {
    /// The cache's number for the photo.
    public let key: PhotoKey
    /// The photo's id in the gallery's list.
    public let galleryID: String
    /// The photo's title. The title may contain control characters, so make it harmless before a screen shows it.
    public let name: String
    /// The photo's date.
    public let date: Timestamp
    /// The state of the photo's thumbnail.
    public let thumbnail: RenditionState
    /// The state of the original photo.
    public let original: RenditionState
    /// The size of the photo's file in bytes; nil if the file is not cached.
    public let size: Int64?
    /// Whether the photo's file lies in a local gallery, so that the cache has no copy.
    public let isInPlace: Bool
    /// The folder of the photo; nil if the photo's id is no path.
    public let folder: FolderPath?
    /// A blurred picture of the photo as a ThumbHash in Base64; nil if the gallery has none.
    public let thumbhash: String?
    /// The length of the video in milliseconds, 0 if unknown; nil for a photo. In a photo library, the pictures of a
    /// video are stills that the server made. In a folder, the original is the video itself.
    public let videoMilliseconds: Int?
    /// Whether the original is a video on a server. Vitrine fetches such a video only if the user saves it.
    public let isRemoteVideo: Bool
    /// The user's own rating, or else the rating in the gallery's list.
    public let rating: Rating

    /// Creates a photo.
    public init(
        key: PhotoKey, galleryID: String, name: String, date: Timestamp, thumbnail: RenditionState,
        original: RenditionState, size: Int64? = nil, isInPlace: Bool = false, folder: FolderPath? = nil,
        thumbhash: String? = nil, videoMilliseconds: Int? = nil, isRemoteVideo: Bool = false, rating: Rating = .none
    ) {
        self.key = key
        self.galleryID = galleryID
        self.name = name
        self.date = date
        self.thumbnail = thumbnail
        self.original = original
        self.size = size
        self.isInPlace = isInPlace
        self.folder = folder
        self.thumbhash = thumbhash
        self.videoMilliseconds = videoMilliseconds
        self.isRemoteVideo = isRemoteVideo
        self.rating = rating
    }

    /// Whether this is a video, and not a photo.
    public var isVideo: Bool { videoMilliseconds != nil }

    /// Whether the original is a video file, and not a still picture that a photo library made.
    public var isVideoFile: Bool { isVideo && folder != nil }

    /// The photo's ``key``, as `Identifiable` requires.
    public var id: PhotoKey { key }

    /// Returns the state of a rendition of the photo.
    public subscript(rendition: Rendition) -> RenditionState {
        switch rendition {
        case .thumbnail: thumbnail
        case .original: original
        }
    }
}

/// The cache's number for a photo.
///
/// The number stays the same through every update, and the cache never reuses it. So selections, requests and drawn
/// pictures can store it safely.
public struct PhotoKey: Hashable, Comparable, Sendable {
    /// The number of the photo's database row.
    public let rawValue: Int64

    /// Creates a key from a row number.
    public init(_ rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Compares the photos' arrival in the cache. Earlier photos come first.
    public static func < (left: PhotoKey, right: PhotoKey) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// One of the two pictures that a gallery offers of a photo.
public enum Rendition: String, Hashable, Sendable, CaseIterable {
    /// The small picture for lists.
    case thumbnail
    /// The full-size photo. The cache's columns and JSON call the original "photo".
    case original = "photo"
}

/// The state of a photo's thumbnail or original in the cache.
///
/// `edition` is a version number. It increases when the gallery's list shows that the picture has changed, and when the
/// user retries a bad picture. An older edition in the cache stays visible until the current edition has arrived.
public struct RenditionState: Hashable, Sendable {
    /// The reason why the current edition is missing.
    public enum Trouble: Hashable, Sendable {
        /// An attempt failed, and Vitrine will retry automatically.
        case putOff(Failure)
        /// The picture is unavailable or unreadable. Vitrine retries only if the user asks.
        case bad(Failure)

        /// The failure in either case.
        public var failure: Failure {
            switch self {
            case .putOff(let failure), .bad(let failure): failure
            }
        }
    }

    /// The number of the current edition, which the gallery's list offers.
    public var edition: Int
    /// The number of the edition in the cache; nil if no edition is cached. A negative number belongs to an edition
    /// whose picture was bad. An older picture, whose edition is unknown, is cached instead.
    public var held: Int?
    /// The problem with the current edition; nil for no problem.
    public var trouble: Trouble?
    /// Whether the server offers no such picture. This is no failure, because Vitrine can make a thumbnail from the
    /// cached photo.
    public var isAbsent: Bool

    /// Creates a state.
    public init(edition: Int, held: Int? = nil, trouble: Trouble? = nil, isAbsent: Bool = false) {
        self.edition = edition
        self.held = held
        self.trouble = trouble
        self.isAbsent = isAbsent
    }

    /// Whether the cache contains the current edition.
    public var isCurrent: Bool { held == edition }

    /// Whether the cache lacks the current edition and a request may fetch it.
    public var isWanting: Bool {
        if isCurrent || isAbsent { return false }
        if case .bad = trouble { return false }
        return true
    }
}

/// A picture format, recognised by a file's first bytes.
///
/// This type keeps web pages and error texts out of the cache. Only the decoder finds out whether the bytes are a valid
/// picture.
public enum PictureSignature: String, Sendable, CaseIterable {
    /// The raw files of many cameras are TIFFs; `raf`, `cr3`, `orf` and `rw2` have a signature of their own.
    case jpeg, png, gif, webp, tiff, heif, bmp, netpbm, qoi, jxl, raf, cr3, orf, rw2

    /// The number of bytes to check. Signatures need 20 bytes. Recognising an SVG drawing needs more, because it may
    /// begin with comments.
    public static let length = 512

    /// Returns the format of a file that starts with these bytes. Returns nil if no format matches.
    public init?(_ bytes: some Collection<UInt8>) {
        let head = Array(bytes.prefix(Self.length))
        switch head {
        case _ where head.starts(with: [0xFF, 0xD8, 0xFF]): self = .jpeg
        case _ where head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]): self = .png
        case _ where head.starts(with: Array("GIF87a".utf8)) || head.starts(with: Array("GIF89a".utf8)): self = .gif
        case _ where head.starts(with: Array("RIFF".utf8)) && head.dropFirst(8).starts(with: "WEBP".utf8):
            self = .webp
        // 43 instead of 42 marks BigTIFF, with 64-bit offsets.
        case _ where [0x2A, 0x2B].contains { head.starts(with: [0x49, 0x49, $0, 0x00]) }: self = .tiff
        case _ where [0x2A, 0x2B].contains { head.starts(with: [0x4D, 0x4D, 0x00, $0]) }: self = .tiff
        // An ISO base media file with the brand of a still picture.
        case _ where head.dropFirst(4).starts(with: "ftyp".utf8) && Self.isStillBrand(head.dropFirst(8).prefix(4)):
            self = .heif
        case _ where head.starts(with: Array("FUJIFILMCCD-RAW ".utf8)): self = .raf
        case _ where head.dropFirst(4).starts(with: "ftypcrx ".utf8): self = .cr3
        case _ where ["IIRO", "IIRS", "MMOR"].contains { head.starts(with: Array($0.utf8)) }: self = .orf
        case _ where head.starts(with: [0x49, 0x49, 0x55, 0x00]): self = .rw2
        case _ where head.starts(with: Array("qoif".utf8)): self = .qoi
        case _ where head.starts(with: [0xFF, 0x0A]): self = .jxl
        case _ where head.starts(with: [0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]): self = .jxl
        case _ where Self.isBitmap(head): self = .bmp
        case _ where Self.isNetpbm(head): self = .netpbm
        default: return nil
        }
    }

    /// Returns a description of a file that is no picture, for a failure.
    public static func description(ofOther head: some Collection<UInt8>) -> String {
        let text = String(decoding: head.prefix(length), as: UTF8.self)
        let isDrawing = text.hasPrefix("<") && text.contains("<svg")
        return isDrawing ? "an SVG drawing, which Vitrine does not show" : "something that is not a picture"
    }

    /// Returns the media type of a picture that starts with these bytes; `application/octet-stream` for other files.
    public static func mediaType(_ head: some Collection<UInt8>) -> String {
        let isAV1 = ["avif", "avis"].contains { head.dropFirst(8).prefix(4).elementsEqual($0.utf8) }
        return switch PictureSignature(head) {
        case .jpeg: "image/jpeg"
        case .png: "image/png"
        case .gif: "image/gif"
        case .webp: "image/webp"
        case .tiff: "image/tiff"
        case .heif: isAV1 ? "image/avif" : "image/heic"
        case .bmp: "image/bmp"
        case .netpbm: "image/x-portable-anymap"
        case .qoi: "image/qoi"
        case .jxl: "image/jxl"
        case .raf: "image/x-fuji-raf"
        case .cr3: "image/x-canon-cr3"
        case .orf: "image/x-olympus-orf"
        case .rw2: "image/x-panasonic-rw2"
        case nil: "application/octet-stream"
        }
    }

    private static func isStillBrand(_ brand: ArraySlice<UInt8>) -> Bool {
        ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1", "avif", "avis"].contains {
            $0.utf8.elementsEqual(brand)
        }
    }

    /// Whether a file begins like a Windows bitmap. The length of its second header must be a known one.
    private static func isBitmap(_ head: [UInt8]) -> Bool {
        guard head.count >= 18, head.starts(with: "BM".utf8), head[15...17].allSatisfy({ $0 == 0 }) else {
            return false
        }
        return [12, 16, 40, 52, 56, 64, 108, 124].contains(head[14])
    }

    /// Whether the file begins with P1 to P7 and white space.
    private static func isNetpbm(_ head: [UInt8]) -> Bool {
        guard head.count > 2, head[0] == UInt8(ascii: "P") else { return false }
        let isSpace = head[2] == 0x20 || 0x09...0x0D ~= head[2]
        return head[1] == UInt8(ascii: "7")
            ? head[2] == 0x0A : UInt8(ascii: "1")...UInt8(ascii: "6") ~= head[1] && isSpace
    }
}

/// A video format, recognised by a file's first bytes.
///
/// Only the decoder finds out whether the bytes are a valid video.
public enum VideoSignature: String, Sendable, CaseIterable {
    /// MP4, QuickTime and 3GP.
    case mp4
    /// Matroska and WebM.
    case matroska
    case avi
    /// The streams of camcorders and broadcasts.
    case transportStream
    /// The streams of DVDs.
    case programStream

    /// Returns the format of a file that starts with these bytes. Returns nil if no format matches.
    ///
    /// - Parameter bytes: the first bytes, at least ``PictureSignature/length`` unless the file is shorter.
    public init?(_ bytes: some Collection<UInt8>) {
        let head = Array(bytes.prefix(PictureSignature.length))
        // A still picture in the same container is no video.
        guard PictureSignature(head) == nil else { return nil }
        let type = head.dropFirst(4).prefix(4)
        switch head {
        // QuickTime files of older programs begin without a type.
        case _ where ["ftyp", "moov", "mdat", "wide", "skip", "pnot"].contains { $0.utf8.elementsEqual(type) }:
            self = .mp4
        case _ where head.starts(with: [0x1A, 0x45, 0xDF, 0xA3]): self = .matroska
        case _ where head.starts(with: "RIFF".utf8) && head.dropFirst(8).starts(with: "AVI ".utf8): self = .avi
        case _ where head.starts(with: [0, 0, 1, 0xBA]): self = .programStream
        case _ where Self.isTransportStream(head, packet: 188, at: 0): self = .transportStream
        // Camcorders write four bytes before each packet.
        case _ where Self.isTransportStream(head, packet: 192, at: 4): self = .transportStream
        default: return nil
        }
    }

    /// Whether each packet in the file's first bytes begins with 0x47, as in a transport stream.
    private static func isTransportStream(_ head: [UInt8], packet: Int, at first: Int) -> Bool {
        let starts = stride(from: first, to: head.count, by: packet)
        return head.count > first + packet && starts.allSatisfy { head[$0] == 0x47 }
    }
}

/// Recognises pictures and videos by their names' endings, for lists without file types.
public enum PictureName {
    private static let endings = heifEndings.union(
        [
            "jpg", "jpeg", "jpe", "jfif", "mpo", "png", "gif", "webp", "tif", "tiff", "jxl", "bmp", "dib", "pbm", "pgm",
            "ppm", "pnm", "pam", "qoi",
        ].map { Array($0.utf8) })
    /// The endings of HEIC and AVIF files.
    private static let heifEndings = Set(["heic", "heif", "hif", "avif"].map { Array($0.utf8) })
    /// The endings of cameras' raw files.
    private static let rawEndings = Set(
        ["arw", "cr2", "cr3", "dng", "nef", "nrw", "orf", "pef", "raf", "rw2", "srw"].map { Array($0.utf8) })

    /// The endings of videos.
    private static let videoEndings = Set(
        ["mp4", "m4v", "mov", "webm", "mkv", "avi", "mts", "m2ts", "3gp", "mpg", "mpeg"].map { Array($0.utf8) })

    /// Whether a name has the ending of a picture or a video. False for hidden files.
    public static func isPictureOrVideo(_ name: ArraySlice<UInt8>) -> Bool { isPicture(name) || isVideo(name) }

    /// Whether a name has the ending of a video, in upper or lower case. False for hidden files.
    public static func isVideo(_ name: ArraySlice<UInt8>) -> Bool { has(name, videoEndings) }

    /// Whether the last name of a path has the ending of a video.
    public static func isVideo(path: String) -> Bool { isVideo(lastName(of: path)[...]) }

    /// Whether the last name of a path has the ending of a HEIC or AVIF photo.
    public static func isHEIF(path: String) -> Bool { has(lastName(of: path)[...], heifEndings) }

    /// Whether a name has the ending of a picture, in upper or lower case. False for hidden files.
    public static func isPicture(_ name: ArraySlice<UInt8>) -> Bool {
        isFinished(name) || has(name, rawEndings)
    }

    /// Whether a name has the ending of a picture other than a camera's raw file.
    ///
    /// Photo libraries also offer a developed picture of each raw file, which is much smaller.
    public static func isFinished(_ name: ArraySlice<UInt8>) -> Bool { has(name, endings) }

    private static func lastName(of path: String) -> [UInt8] {
        path.utf8.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? []
    }

    private static func has(_ name: ArraySlice<UInt8>, _ endings: Set<[UInt8]>) -> Bool {
        guard name.first != UInt8(ascii: "."), let dot = name.lastIndex(of: UInt8(ascii: ".")),
            name.endIndex - dot <= 5
        else { return false }
        return endings.contains(name[name.index(after: dot)...].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
    }
}
