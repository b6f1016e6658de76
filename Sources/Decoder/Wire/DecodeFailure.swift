/// Why a picture could not be decoded.
public enum DecodeFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The first bytes are those of no picture format.
    case notAPicture
    /// A picture, in a format or a variant of one that is not read.
    case unsupportedFormat(String)
    /// A picture in a format that a library reads which is not on this system: the format, the library, and the package
    /// that brings it.
    case missingLibrary(format: String, library: String, package: String)
    /// The header claims more pixels than are ever decoded.
    case tooLarge(width: Int, height: Int)
    /// The bytes break their format's rules before there is anything to show.
    case damaged(String)
    /// The picture needs more memory than the decoder may have.
    case outOfMemory
    /// The machine has not the memory that the decoder may have, or whoever started it allows it less.
    case shortOfMemory
    /// The decoder was asked in a way it does not understand, or was handed no readable file.
    case badRequest(String)

    /// Whether it says something of the picture, and will be said the next time too. What a system lacks may be there then.
    public var isThePicturesFault: Bool {
        switch self {
        case .notAPicture, .unsupportedFormat, .tooLarge, .damaged, .outOfMemory: true
        case .missingLibrary, .shortOfMemory, .badRequest: false
        }
    }

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .notAPicture: "This is not a picture."
        case .unsupportedFormat(let name): "Pictures of the format \(name) cannot be shown."
        case .missingLibrary(let format, let library, let package):
            "Pictures of the format \(format) are shown where \(library) is installed (the package \(package))."
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
        default: throw .malformedReply("there is no such failure")
        }
    }

    /// Reasons are a library's or our own words, in ASCII and far below the limit; this only holds them to it.
    private static func bounded(_ text: String) -> String {
        text.utf8.count <= PictureMetadata.longestText ? text : String(text.unicodeScalars.prefix(255))
    }
}
