import Model

/// A line of the file of galleries: an address, and behind a tab how often it is updated.
struct GalleryLine: Equatable, Sendable {
    /// Nil for a comment, or an address with a slip of the pen in it.
    let address: Address?
    /// How often it is updated; nil for as often as is set for all.
    var interval: SyncInterval? {
        didSet { rest = interval?.description ?? "" }
    }
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
        interval = address == nil ? nil : SyncInterval(rest)
        self.rest = address == nil ? text : interval?.description ?? rest
    }

    /// What is wrong with it, if an address is there and what stands behind it means nothing.
    var error: SettingsError? {
        guard address != nil, interval == nil, !rest.isEmpty else { return nil }
        return .value(rest, of: "every", allowed: SyncInterval.allowed)
    }

    var text: String {
        guard let address else { return rest }
        return rest.isEmpty ? address.text : "\(address.text)\t\(rest)"
    }

    /// The address ends at a tab; or where somebody has typed spaces in its place, and then one of these words.
    private static func split(_ text: String) -> (place: String, rest: String) {
        for place in text.indices where text[place].isWhitespace {
            let rest = text[place...].trimmed
            if text[place] == "\t" || rest == "never" || rest.hasPrefix("every ") {
                return (text[..<place].trimmed, rest)
            }
        }
        return (text, "")
    }
}
