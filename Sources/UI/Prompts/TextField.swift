import Cells
import Model
import Text

/// A line of text that the user edits.
@MainActor
final class TextField: Responder {
    /// The typed text so far.
    private(set) var text = ""
    /// The number of characters to the left of the cursor.
    private var cursor = 0
    /// Called when the user presses Enter.
    var onEnter: (String) -> Void = { _ in }
    /// Called when the user presses Escape.
    var onEscape: () -> Void = {}

    /// Whether the field shows dots instead of the text.
    private let isMasked: Bool

    /// The maximum length of the text, in bytes. No address is longer.
    private static let maximumLength = 8_192

    /// Creates an empty field.
    init(isMasked: Bool = false) {
        self.isMasked = isMasked
        super.init()
    }

    /// Replaces the text, and puts the cursor at its end.
    func begin(_ text: String = "") {
        self.text = text
        cursor = text.count
    }

    override var takesKeys: Bool { true }

    override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        switch event {
        case .key(let key): return handle(key) ? changed() : event
        case .paste(let text):
            // Insert only the first line, because the field holds one address.
            insert(String(text.drop { $0.isNewline }.prefix { !$0.isNewline }))
            return changed()
        default: return event
        }
    }

    private func changed() -> InterfaceEvent? { .needsDisplay }

    /// Handles an editing key. Returns false for other keys.
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
        // The new text may combine with its neighbours, as an accent does.
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

    /// Removes the text from the cursor back to the start of a word or of a part of an address.
    private func removeWord() {
        let characters = Array(text)
        var start = cursor
        while start > 0, " /.".contains(characters[start - 1]) { start -= 1 }
        while start > 0, !" /.".contains(characters[start - 1]) { start -= 1 }
        remove(start..<cursor)
    }

    /// Draws the part of the text around the cursor, and sets the cursor's position.
    func draw(in surface: inout Surface, _ frame: Rect) {
        // Measure from the cursor outwards, so that the cost does not depend on the text's length.
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

/// A labelled field for a line of text, such as search words or a folder's path.
@MainActor
final class LinePrompt: Responder {
    /// Called with the text after each change.
    var onChange: (String) -> Void = { _ in }
    /// Called with the text when the user presses Enter.
    var onEnter: (String) -> Void = { _ in }
    /// Called when the user presses Escape.
    var onEscape: () -> Void = {}

    /// The keys that the prompt leaves to the next responder.
    var passed: Set<Key> = []

    private let field = TextField()
    private var label = ""
    private var reported = ""

    /// Sets the label and the initial text.
    func begin(_ label: String, _ text: String) {
        self.label = label
        reported = text
        field.begin(text)
        field.onEnter = { [weak self] in self?.onEnter($0) }
        field.onEscape = { [weak self] in self?.onEscape() }
    }

    override var takesKeys: Bool { true }

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
        // The label takes at most half of the line.
        let words = label.truncated(toWidth: line.size.columns / 2)
        _ = rest.takeLeft(surface.write(words, in: rest, style: theme.key))
        _ = rest.takeLeft(1)
        field.draw(in: &surface, rest)
    }
}

/// Turns the path of a folder that the user typed into an absolute path.
enum TypedPath {
    /// Returns the absolute path. `~` stands for the home folder, and other relative paths begin at the current folder.
    ///
    /// Returns nil for an empty path or one with control characters.
    static func absolute(_ text: String, home: String, currentFolder: String) -> String? {
        let trimmed = text.drop { $0 == " " }
        guard !trimmed.isEmpty, trimmed.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            return nil
        }
        if trimmed == "~" || trimmed.hasPrefix("~/") { return Address(filePath: home + trimmed.dropFirst()).filePath }
        return Address(filePath: trimmed.hasPrefix("/") ? String(trimmed) : "\(currentFolder)/\(trimmed)").filePath
    }
}
