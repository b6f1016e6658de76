import Foundation

/// Something that nobody is to find, and what it may look like: as it is, percent-encoded in any way, as JSON has it, and in
/// base64 among other things, wherever it begins there.
///
///     let secret = Secret("p@ss/wörd%")
///     #expect(secret.traces(in: bytes).isEmpty)
public struct Secret: Sendable {
    /// The text itself.
    public let text: String
    private let needles: [(look: String, bytes: Data)]

    /// What is searched for must be so long that nobody comes upon it by chance.
    public init(_ text: String) {
        precondition(text.utf8.count >= 8)
        self.text = text
        var needles = [("as it is", text), ("in JSON", Self.json(text))]
        for offset in 0..<3 {
            let piece = Self.base64(text, offset: offset)
            needles.append(("in base64 at \(offset)", piece))
            let forURLs = piece.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            needles.append(("in base64url at \(offset)", forURLs))
        }
        self.needles = needles.map { ($0, Data($1.utf8)) }
    }

    /// How it is found in bytes; empty if it is not.
    public func traces(in bytes: some Sequence<UInt8>) -> [String] {
        let plain = Data(bytes)
        let decoded = Self.percentDecoded(plain)
        let found = needles.filter { plain.range(of: $0.bytes) != nil }.map(\.look)
        guard decoded.count != plain.count else { return found }
        return found + needles.filter { decoded.range(of: $0.bytes) != nil }.map { "percent-encoded, " + $0.look }
    }

    /// How it is found in a text.
    public func traces(in text: String) -> [String] { traces(in: text.utf8) }

    /// Where and how it is found below a folder, in files and in the names of all that is there.
    public func traces(below folder: String) -> [String] {
        let entries = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return entries.flatMap { entry in
            let contents = FileManager.default.contents(atPath: folder + "/" + entry) ?? Data()
            return traces(in: entry).map { "the name \(entry): \($0)" } + traces(in: contents).map { "\(entry): \($0)" }
        }
    }

    /// As much as is the same whatever stands around it, when as many bytes stand before it.
    private static func base64(_ text: String, offset: Int) -> String {
        let bytes = [UInt8](repeating: 0, count: offset) + Array(text.utf8)
        // Six bits a letter: those that hold bits of others are not among them.
        let letters = Data(bytes).base64EncodedString().prefix(bytes.count * 8 / 6)
        return String(letters.dropFirst((offset * 8 + 5) / 6))
    }

    /// With everything escaped that is not plain.
    private static func json(_ text: String) -> String {
        text.utf16.map { $0 < 0x80 ? String(UnicodeScalar(UInt8($0))) : String(format: "\\u%04x", $0) }.joined()
    }

    private static func percentDecoded(_ data: Data) -> Data {
        let bytes = Array(data)
        var (result, place) = ([UInt8](), 0)
        result.reserveCapacity(bytes.count)
        while place < bytes.count {
            let digits = bytes[place] == UInt8(ascii: "%") ? bytes.dropFirst(place + 1).prefix(2) : []
            let values = digits.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
            result.append(values.count == 2 ? UInt8(values[0] << 4 | values[1]) : bytes[place])
            place += values.count == 2 ? 3 : 1
        }
        return Data(result)
    }
}
