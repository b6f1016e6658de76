import Foundation

/// A secret to search for in output, plain or encoded.
///
/// The encodings are any percent-encoding, JSON, and base64 at any offset within other data.
///
///     let secret = Secret("p@ss/wörd%")
///     #expect(secret.traces(in: bytes).isEmpty)
public struct Secret: Sendable {
    /// The text itself.
    public let text: String
    private let needles: [(look: String, bytes: Data)]

    /// Creates a secret, which must be long enough not to occur by chance.
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

    /// Returns the forms in which bytes contain it; empty for none.
    public func traces(in bytes: some Sequence<UInt8>) -> [String] {
        let plain = Data(bytes)
        let decoded = Self.percentDecoded(plain)
        let found = needles.filter { plain.range(of: $0.bytes) != nil }.map(\.look)
        guard decoded.count != plain.count else { return found }
        return found + needles.filter { decoded.range(of: $0.bytes) != nil }.map { "percent-encoded, " + $0.look }
    }

    /// Returns the forms in which a text contains it.
    public func traces(in text: String) -> [String] { traces(in: text.utf8) }

    /// Returns places and forms of it below a folder, in files and in names.
    public func traces(below folder: String) -> [String] {
        let entries = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return entries.flatMap { entry in
            let contents = FileManager.default.contents(atPath: folder + "/" + entry) ?? Data()
            return traces(in: entry).map { "the name \(entry): \($0)" } + traces(in: contents).map { "\(entry): \($0)" }
        }
    }

    /// Returns the base64 letters after `offset` bytes that do not depend on neighbouring data.
    private static func base64(_ text: String, offset: Int) -> String {
        let bytes = [UInt8](repeating: 0, count: offset) + Array(text.utf8)
        // A letter has six bits. Letters that also have bits of neighbours are left out.
        let letters = Data(bytes).base64EncodedString().prefix(bytes.count * 8 / 6)
        return String(letters.dropFirst((offset * 8 + 5) / 6))
    }

    /// With everything escaped that is not plain.
    private static func json(_ text: String) -> String {
        text.utf16.map { $0 < 0x80 ? String(UnicodeScalar(UInt8($0))) : String(format: "\\u%04x", $0) }.joined()
    }

    private static func percentDecoded(_ data: Data) -> Data {
        let sign = Data("%".utf8)
        var (result, place) = (Data(), data.startIndex)
        while let next = data.range(of: sign, in: place..<data.endIndex) {
            result += data[place..<next.lowerBound]
            let values = data[next.upperBound...].prefix(2).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
            result.append(values.count == 2 ? UInt8(values[0] << 4 | values[1]) : data[next.lowerBound])
            place = next.upperBound + (values.count == 2 ? 2 : 0)
        }
        return result + data[place...]
    }
}
