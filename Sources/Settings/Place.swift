import Model

/// Where the user was: kept between runs.
public struct Place: Equatable, Sendable {
    /// The gallery that was open.
    public var gallery: Address?
    /// The photo that was selected in it, by the gallery's own id.
    public var photo: String?
    /// Whether the photo itself was being looked at.
    public var isPhotoOpen = false

    /// Nowhere yet.
    public init(gallery: Address? = nil, photo: String? = nil, isPhotoOpen: Bool = false) {
        self.gallery = gallery
        self.photo = photo
        self.isPhotoOpen = isPhotoOpen
    }

    /// Reads a file's text; what cannot be read is nowhere.
    public init(text: String) {
        self.init()
        for line in text.lines {
            guard let equals = line.firstIndex(of: "=") else { continue }
            let value = String(line[line.index(after: equals)...])
            switch line[..<equals] {
            case "gallery": gallery = try? Address(value)
            // An id is a stranger's text and may hold a line's end: it was written on one line, in hexadecimal.
            case "photo": photo = Self.unhex(value)
            case "open": isPhotoOpen = value == "photo"
            default: break
            }
        }
    }

    /// The file's text.
    public var text: String {
        var lines: [String] = []
        if let gallery { lines.append("gallery=\(gallery)") }
        if let photo { lines.append("photo=\(Self.hex(photo))") }
        if isPhotoOpen { lines.append("open=photo") }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func hex(_ text: String) -> String {
        text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func unhex(_ text: String) -> String? {
        let digits = Array(text.utf8)
        let values = digits.compactMap { Character(Unicode.Scalar($0)).hexDigitValue.map(UInt8.init) }
        guard !digits.isEmpty, digits.count % 2 == 0, values.count == digits.count else { return nil }
        let bytes = stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
        return String(validating: bytes, as: UTF8.self)
    }
}
