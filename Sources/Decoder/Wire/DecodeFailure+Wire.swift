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
