import Text

/// A reply of a terminal to a query.
///
/// A reply may be late or forged, so ``Inquiry`` accepts a reply only if its query is open.
enum TerminalReply: Hashable, Sendable {
    /// XTVERSION, `DCS > | text ST`: the name and version.
    case version(String)
    /// Kitty graphics, `APC G i=number;OK ST`: whether the query with that number succeeded.
    case kitty(number: Int, isOK: Bool)
    /// `CSI 6 ; height ; width t`: the size of a cell in pixels.
    case cellSize(width: Int, height: Int)
    /// `CSI 4 ; height ; width t`: the size of the text area in pixels.
    case areaSize(width: Int, height: Int)
    /// `OSC 11 ; rgb:… ST`: the background colour.
    case background(red: UInt8, green: UInt8, blue: UInt8)
    /// DECRPM, `CSI ? mode ; state $ y`: the state of a mode.
    case mode(Int, state: Int)
    /// DA1, `CSI ? … c`: the terminal class and its features.
    case attributes([Int])
    /// XTSMGRAPHICS, `CSI ? 1 ; 0 ; count S`: the number of colours of a sixel picture.
    case sixelColours(Int)

    /// The length of the longest terminal name to keep.
    static let maximumName = 64
    /// The maximum number of attributes to keep from one answer.
    static let maximumAttributes = 64

    /// Parses a control sequence; returns nil if it is not a reply.
    init?(_ sequence: ControlSequence) {
        let numbers = sequence.numbers
        switch (sequence.introducer, sequence.intermediates, sequence.final) {
        case (nil, [], UInt8(ascii: "t")) where numbers.count == 3 && numbers[0] == 6:
            self = .cellSize(width: numbers[2], height: numbers[1])
        case (nil, [], UInt8(ascii: "t")) where numbers.count == 3 && numbers[0] == 4:
            self = .areaSize(width: numbers[2], height: numbers[1])
        case (UInt8(ascii: "?"), [UInt8(ascii: "$")], UInt8(ascii: "y")) where numbers.count == 2:
            self = .mode(numbers[0], state: numbers[1])
        case (UInt8(ascii: "?"), [], UInt8(ascii: "c")):
            self = .attributes(Array(numbers.prefix(Self.maximumAttributes)))
        case (UInt8(ascii: "?"), [], UInt8(ascii: "S")) where numbers.count == 3 && numbers[0] == 1 && numbers[1] == 0:
            self = .sixelColours(numbers[2])
        default: return nil
        }
    }

    /// Parses a string sequence; returns nil if it is not a reply.
    ///
    /// - Parameters:
    ///   - introducer: the byte after the escape: `]`, `P` or `_`.
    ///   - body: the bytes up to the string's end.
    init?(introducer: UInt8, body: some Collection<UInt8>) {
        let text = String(decoding: body, as: UTF8.self)
        switch introducer {
        case UInt8(ascii: "P") where text.hasPrefix(">|"):
            self = .version(String(text.dropFirst(2).prefix(Self.maximumName)).madeVisible)
        case UInt8(ascii: "_") where text.hasPrefix("G"):
            guard let (number, message) = Self.kittyParts(text.dropFirst()) else { return nil }
            self = .kitty(number: number, isOK: message == "OK")
        case UInt8(ascii: "]") where text.hasPrefix("11;"):
            guard let (red, green, blue) = Self.colour(text.dropFirst(3)) else { return nil }
            self = .background(red: red, green: green, blue: blue)
        default: return nil
        }
    }

    /// Parses text like `i=31;OK`, possibly with further keys.
    private static func kittyParts(_ text: Substring) -> (number: Int, message: Substring)? {
        let parts = text.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let key = parts[0].split(separator: ",").first(where: { $0.hasPrefix("i=") }),
            let number = Int(key.dropFirst(2))
        else { return nil }
        return (number, parts[1])
    }

    /// Parses X11's `rgb:` or `rgba:` form of a colour, with one to four digits for each part.
    private static func colour(_ text: Substring) -> (UInt8, UInt8, UInt8)? {
        guard let colon = text.firstIndex(of: ":"), ["rgb", "rgba"].contains(text[..<colon]) else { return nil }
        let parts = text[text.index(after: colon)...].split(separator: "/", omittingEmptySubsequences: false)
        guard (3...4).contains(parts.count) else { return nil }
        let values = parts.prefix(3).compactMap { part -> UInt8? in
            guard (1...4).contains(part.utf8.count), part.allSatisfy(\.isHexDigit), let value = Int(part, radix: 16)
            else { return nil }
            return UInt8(value * 255 / ((1 << (4 * part.utf8.count)) - 1))
        }
        return values.count == 3 ? (values[0], values[1], values[2]) : nil
    }
}
