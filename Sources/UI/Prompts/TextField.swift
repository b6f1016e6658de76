import Cells
import Model
import Text

/// A line that one types into.
@MainActor
final class TextField: Responder {
    private(set) var text = ""
    /// Characters before the cursor.
    private var cursor = 0
    /// Called when Enter is pressed.
    var onEnter: (String) -> Void = { _ in }
    /// Called when Escape is pressed.
    var onEscape: () -> Void = {}

    /// Whether nobody is to see what is typed.
    private let isMasked: Bool

    /// More than any address has.
    private static let maximumLength = 8_192

    /// Makes an empty one.
    init(isMasked: Bool = false) {
        self.isMasked = isMasked
        super.init()
    }

    /// Begins anew with some text.
    func begin(_ text: String = "") {
        self.text = text
        cursor = text.count
    }

    override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        switch event {
        case .key(let key): return handle(key) ? changed() : event
        case .paste(let text):
            // The first line, if there are more: one address is typed at a time.
            insert(String(text.drop { $0.isNewline }.prefix { !$0.isNewline }))
            return changed()
        default: return event
        }
    }

    private func changed() -> InterfaceEvent? { .needsDisplay }

    /// Returns false for keys that mean nothing in a line of text.
    private func handle(_ key: Key) -> Bool {
        switch (key.code, key.modifiers) {
        case (.enter, _): onEnter(text)
        case (.escape, _), (.character("c"), .control), (.character("g"), .control): onEscape()
        case (.character(let character), []): insert(String(character))
        case (.backspace, _), (.character("h"), .control): remove(cursor - 1..<cursor)
        case (.delete, _): remove(cursor..<cursor + 1)
        case (.left, _), (.character("b"), .control): cursor = max(0, cursor - 1)
        case (.right, _), (.character("f"), .control): cursor = min(text.count, cursor + 1)
        case (.home, _), (.character("a"), .control): cursor = 0
        case (.end, _), (.character("e"), .control): cursor = text.count
        case (.character("u"), .control): remove(0..<cursor)
        case (.character("k"), .control): remove(cursor..<text.count)
        case (.character("w"), .control): removeWord()
        default: return false
        }
        return true
    }

    private func insert(_ new: String) {
        guard text.utf8.count + new.utf8.count <= Self.maximumLength else { return }
        // What comes in may join the character before it, an accent for one, or the one behind it.
        let before = String(text.prefix(cursor)) + new
        text = before + text.dropFirst(cursor)
        cursor = min(text.count, before.count)
    }

    private func remove(_ range: Range<Int>) {
        let range = range.clamped(to: 0..<text.count)
        guard !range.isEmpty else { return }
        let start = text.index(text.startIndex, offsetBy: range.lowerBound)
        text.removeSubrange(start..<text.index(start, offsetBy: range.count))
        cursor = min(cursor, range.lowerBound)
    }

    /// Back to the beginning of a word, or of a part of an address.
    private func removeWord() {
        let characters = Array(text)
        var start = cursor
        while start > 0, " /.".contains(characters[start - 1]) { start -= 1 }
        while start > 0, !" /.".contains(characters[start - 1]) { start -= 1 }
        remove(start..<cursor)
    }

    /// Draws the text, as much of it around the cursor as there is room for, and puts the terminal's cursor into it.
    func draw(in surface: inout Surface, _ frame: Rect) {
        // From the cursor outwards, so that a long text costs no more than what is seen of it.
        var before = ""
        var width = 0
        for character in text.prefix(cursor).reversed() {
            let glyph = isMasked ? "•" : String(character).madeVisible
            guard width + glyph.displayWidth < frame.size.columns else { break }
            width += glyph.displayWidth
            before = glyph + before
        }
        let rest = String(text.dropFirst(cursor).prefix(frame.size.columns))
        let shownRest = isMasked ? String(repeating: "•", count: rest.count) : rest.madeVisible
        surface.write(before + shownRest, in: frame)
        surface.cursor = Point(column: frame.origin.column + width, row: frame.origin.row)
    }
}

/// A line in which one types what was asked for: what is searched for, which changes with every letter, or a folder.
@MainActor
final class LinePrompt: Responder {
    /// What to do with what has been typed so far.
    var onChange: (String) -> Void = { _ in }
    /// The user is satisfied with what he has typed.
    var onEnter: (String) -> Void = { _ in }
    /// The user wants to be where he was.
    var onEscape: () -> Void = {}

    /// Keys that are not for it.
    var passed: Set<Key> = []

    private let field = TextField()
    private var label = ""
    private var reported = ""

    /// Begins with what was typed last.
    func begin(_ label: String, _ text: String) {
        self.label = label
        reported = text
        field.begin(text)
        field.onEnter = { [weak self] in self?.onEnter($0) }
        field.onEscape = { [weak self] in self?.onEscape() }
    }

    override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        if case .key(let key) = event, passed.contains(key) { return event }
        let passed = field.handle(event)
        if field.text != reported {
            reported = field.text
            onChange(reported)
        }
        return passed
    }

    func draw(in surface: inout Surface, _ line: Rect, _ theme: Theme) {
        var rest = line
        _ = rest.takeLeft(1)
        // Half of the line at least is for what is typed.
        let words = label.truncated(toWidth: line.size.columns / 2)
        _ = rest.takeLeft(surface.write(words, in: rest, style: theme.key))
        _ = rest.takeLeft(1)
        field.draw(in: &surface, rest)
    }
}

/// A folder as a person types it.
enum TypedPath {
    /// Its absolute path: `~` is home, and what does not begin at the root is relative to the folder that the program was
    /// started in. Nil where nothing was typed, or something that is in no name.
    static func absolute(_ text: String, home: String, currentFolder: String) -> String? {
        let trimmed = text.drop { $0 == " " }
        guard !trimmed.isEmpty, trimmed.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            return nil
        }
        if trimmed == "~" || trimmed.hasPrefix("~/") { return Address(filePath: home + trimmed.dropFirst()).filePath }
        return Address(filePath: trimmed.hasPrefix("/") ? String(trimmed) : "\(currentFolder)/\(trimmed)").filePath
    }
}
