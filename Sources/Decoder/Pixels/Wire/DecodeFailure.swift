/// The reason why a picture could not be decoded.
public enum DecodeFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The first bytes match no picture format.
    case notAPicture
    /// The picture has a known format or variant that Vitrine does not read.
    case unsupportedFormat(String)
    /// A camera's raw file has no preview that Vitrine can show. The value is the format's name.
    case noPreview(format: String)
    /// A library is missing. The values name the format, the library, and the package that contains the library.
    case missingLibrary(format: String, library: String, package: String)
    /// The header claims more pixels than the decoder accepts.
    case tooLarge(width: Int, height: Int)
    /// The file is so damaged that the decoder has no row to show.
    case damaged(String)
    /// The picture needs more memory than the decoder may use.
    case outOfMemory
    /// The system has no free memory, or the parent process allows less than the decoder's limit.
    case shortOfMemory
    /// The request is invalid, or there is no readable file.
    case badRequest(String)

    /// Whether the cause lies in the picture, so that another attempt would also fail.
    public var isThePicturesFault: Bool {
        switch self {
        case .notAPicture, .unsupportedFormat, .noPreview, .tooLarge, .damaged, .outOfMemory: true
        case .missingLibrary, .shortOfMemory, .badRequest: false
        }
    }

    /// An error message for the user.
    public var description: String {
        switch self {
        case .notAPicture: "This is not a picture."
        case .unsupportedFormat(let name): "Vitrine cannot show the format \(name)."
        case .noPreview(let format): "This \(format) file has no preview that Vitrine can show."
        case .missingLibrary(let format, let library, let package):
            "To see \(format) files, install \(library) (package \(package))."
        case .tooLarge(let width, let height): "The picture is too large: \(width) × \(height) pixels."
        case .damaged(let reason): "The picture is damaged: \(reason)."
        case .outOfMemory: "The picture needs too much memory."
        case .shortOfMemory: "There is not enough memory to decode the picture."
        case .badRequest(let reason): "The picture could not be decoded: \(reason)."
        }
    }
}

extension DecodeFailure {
    func encode(to wire: inout WireWriter) {
        switch self {
        case .notAPicture:
            wire.append(1 as UInt8)
        case .unsupportedFormat(let name):
            wire.append(2 as UInt8)
            wire.append(Self.bounded(name))
        case .tooLarge(let width, let height):
            wire.append(3 as UInt8)
            wire.append(PixelSize(width: width, height: height))
        case .damaged(let reason):
            wire.append(4 as UInt8)
            wire.append(Self.bounded(reason))
        case .outOfMemory:
            wire.append(5 as UInt8)
        case .badRequest(let reason):
            wire.append(6 as UInt8)
            wire.append(Self.bounded(reason))
        case .missingLibrary(let format, let library, let package):
            wire.append(7 as UInt8)
            for word in [format, library, package] { wire.append(Self.bounded(word)) }
        case .shortOfMemory:
            wire.append(8 as UInt8)
        case .noPreview(let format):
            wire.append(9 as UInt8)
            wire.append(Self.bounded(format))
        }
    }

    init(from wire: inout WireReader) throws(PixelsError) {
        switch try wire.integer(UInt8.self) {
        case 1: self = .notAPicture
        case 2: self = .unsupportedFormat(try wire.text())
        case 3: self = .tooLarge(width: Int(try wire.integer(UInt32.self)), height: Int(try wire.integer(UInt32.self)))
        case 4: self = .damaged(try wire.text())
        case 5: self = .outOfMemory
        case 6: self = .badRequest(try wire.text())
        case 7: self = .missingLibrary(format: try wire.text(), library: try wire.text(), package: try wire.text())
        case 8: self = .shortOfMemory
        case 9: self = .noPreview(format: try wire.text())
        default: throw .malformedReply("unknown failure")
        }
    }

    /// Shortens a text that exceeds the limit. Reasons are short ASCII texts from Vitrine or a library, far below the
    /// limit.
    private static func bounded(_ text: String) -> String {
        text.utf8.count <= PictureMetadata.longestText ? text : String(text.unicodeScalars.prefix(255))
    }
}
