import Model

/// A line of the file of galleries: an address; behind a tab how often it is updated; and behind another what the user calls
/// it.
struct GalleryLine: Equatable, Sendable {
    /// Nil for a comment, or an address with a slip of the pen in it.
    var address: Address?
    /// How often it is updated; nil for as often as is set for all.
    var interval: SyncInterval? {
        didSet { rest = interval?.description ?? "" }
    }
    /// What the user calls it, if he has said so.
    var title: String?
    /// What stands behind the address, or all of a line that has none: it is written back.
    private var rest: String

    init(_ address: Address) {
        self.address = address
        rest = ""
    }

    /// Reads a line without white space at its ends.
    init(_ text: String) {
        let (place, rest) = Self.split(text)
        address = try? Address(place)
        guard address != nil else {
            self.rest = text
            return
        }
        let fields = rest.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false)
        let every = fields.first?.trimmed ?? ""
        interval = SyncInterval(every)
        self.rest = interval?.description ?? every
        title = fields.count > 1 ? Self.title(String(fields[1])) : nil
    }

    /// A title as it can stand in a line; nil for none.
    static func title(_ text: String) -> String? {
        let isHarmless = { (scalar: Unicode.Scalar) in scalar.value >= 0x20 && scalar.value != 0x7F }
        let title = String(text.unicodeScalars.map { isHarmless($0) ? Character($0) : " " }).trimmed
        return title.isEmpty ? nil : title
    }

    /// What is wrong with it, if an address is there and what stands behind it means nothing.
    var error: SettingsError? {
        guard address != nil, interval == nil, !rest.isEmpty else { return nil }
        return .value(rest, of: "every", allowed: SyncInterval.allowed)
    }

    var text: String {
        guard let address else { return rest }
        if let title { return "\(address.text)\t\(rest)\t\(title)" }
        return rest.isEmpty ? address.text : "\(address.text)\t\(rest)"
    }

    /// The address ends at a tab; or where somebody has typed spaces in its place, and then one of these words.
    private static func split(_ text: String) -> (place: String, rest: String) {
        for place in text.indices where text[place].isWhitespace {
            if text[place] == "\t" { return (text[..<place].trimmed, String(text[text.index(after: place)...])) }
            let rest = text[place...].trimmed
            if rest == "never" || rest.hasPrefix("every ") { return (text[..<place].trimmed, rest) }
        }
        return (text, "")
    }
}
