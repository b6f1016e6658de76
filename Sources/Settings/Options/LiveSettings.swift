import Synchronization

/// The settings of a running program, which the user can change.
///
///     try live.set("theme", to: "light")               // until Vitrine ends
///     try live.keep("theme", "light")                  // also in the settings file
///     for await settings in live.changes() { … }
///
/// Screens pass the user's changes to this object, and the parts of the program follow ``changes()``. A change
/// overrides the command line, which overrides the settings file.
public final class LiveSettings: Sendable {
    private struct State {
        /// The settings of the file and the command line.
        var inForce: SettingsInForce
        /// The user's changes since the start, as text; nil restores the default value.
        var changed: [String: String?] = [:]
        /// The settings that the program uses.
        var settings: Settings
        var watchers: [AsyncStream<Settings>.Continuation] = []
    }

    private let state: Mutex<State>
    private let source: (invocation: Invocation, locations: Locations)?
    private let check: Check

    /// A check of changed settings.
    ///
    /// The function throws an error if the program cannot change from the former settings to the new ones.
    public typealias Check = @Sendable (_ former: Settings, _ new: Settings) throws(SettingsError) -> Void

    /// Reads the settings of a command line and its settings file.
    ///
    /// - Parameter check: throws an error if the program cannot use changed settings, such as the path of an unreadable
    ///   file.
    public init(
        _ invocation: Invocation, _ locations: Locations,
        check: @escaping Check = { (_, _) throws(SettingsError) in }
    ) throws(SettingsError) {
        self.check = check
        let inForce = try SettingsInForce(invocation, locations)
        state = Mutex(State(inForce: inForce, settings: inForce.settings))
        source = (invocation, locations)
    }

    /// Creates settings without a settings file.
    public init(_ settings: Settings = Settings()) {
        state = Mutex(State(inForce: SettingsInForce(settings), settings: settings))
        source = nil
        check = { (_, _) throws(SettingsError) in }
    }

    /// The settings that the program uses now.
    public var settings: Settings { state.withLock { $0.settings } }

    /// The settings of the file and the command line, without the user's later changes.
    public var inForce: SettingsInForce { state.withLock { $0.inForce } }

    /// The user's changes since the start, as arguments for another command line.
    public var changedArguments: [String] {
        state.withLock { state in
            state.changed.keys.sorted().compactMap { name in
                guard let text = SettingsTable.option(named: name)?.text(in: state.settings), !text.isEmpty else {
                    return nil
                }
                return "--\(name)=\(text)"
            }
        }
    }

    /// Returns the source of a setting's value.
    public func origin(of option: SettingsOption) -> SettingsInForce.Origin {
        state.withLock { $0.changed[option.name] != nil ? .session : $0.inForce.origin(of: option.name) }
    }

    /// Returns the new value of a setting that waits for the next start. Returns nil if no new value waits.
    public func nextValue(of option: SettingsOption) -> String? {
        state.withLock { state in
            let next = option.text(in: state.inForce.settings)
            guard case .atNextStart = option.effect, next != option.text(in: state.settings) else { return nil }
            return next
        }
    }

    /// Returns a stream of the settings, starting with the current ones. Several changes may arrive as one.
    public func changes() -> AsyncStream<Settings> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            state.withLock { state in
                state.watchers.append(continuation)
                continuation.yield(state.settings)
            }
        }
    }

    // MARK: - Changes

    /// Changes a setting until Vitrine ends. Nil restores the default value.
    ///
    /// - Returns: a sentence about the time when the change takes effect; nil if the change takes effect at once.
    @discardableResult
    public func set(_ name: String, to text: String?) throws(SettingsError) -> String? {
        let option = try Self.option(named: name)
        var trial = settings
        if let text { try option.set(text, in: &trial) }
        // Do not change the setting, because the change would be lost before the next start.
        if case .atNextStart(let reason) = option.effect {
            return
                "“\(name)” takes effect only at the next start, because \(reason). Save it with “:set! \(name) …”."
        }
        expandHome(&trial)
        if text == nil { option.reset(in: &trial) }
        try check(settings, trial)
        change { $0.changed[name] = .some(text) }
        return option.effectSentence
    }

    /// Changes a setting, and saves the change in the settings file. Nil removes the setting from the file.
    ///
    /// The call waits for the disk. It changes no other line of the file, and keeps changes that other programs have
    /// made meanwhile.
    ///
    /// - Returns: a sentence about the time when the change takes effect; nil if the change takes effect at once.
    @discardableResult
    public func keep(_ name: String, _ text: String?) throws(SettingsError) -> String? {
        let option = try Self.option(named: name)
        var trial = settings
        if let text {
            try option.set(text, in: &trial)
            // A line of the file cannot hold newlines, invalid bytes, or white space at the ends of a value.
            let isLine = !text.contains(where: \.isNewline) && !text.unicodeScalars.contains("\u{FFFD}")
            guard isLine, text.trimmed == text else { throw .value(text, of: name, allowed: "one line of text") }
        }
        expandHome(&trial)
        if case .atNextStart = option.effect {} else { try check(settings, trial) }
        let path = inForce.path
        guard source != nil else { throw .file(path: "config", reason: "no settings file") }
        try PrivateFile.edit(path) { SettingsEdit($0).setting(option, to: text) }
        try reload()
        if case .atNextStart = option.effect { return option.effectSentence }
        // If the command line overrides the file, keep the change for this run, too.
        change { state in
            state.changed[name] = nil
            var kept = state.inForce.settings
            if let text { try? option.set(text, in: &kept) } else { option.reset(in: &kept) }
            expandHome(&kept)
            if option.text(in: kept) != option.text(in: state.inForce.settings) { state.changed[name] = .some(text) }
        }
        return option.effectSentence
    }

    /// Returns the text to save for a setting in the settings file. The text is what the user typed or wrote to the
    /// file, or else the present value. Returns nil for the default value.
    public func textToKeep(of option: SettingsOption) -> String? {
        state.withLock { state in
            if let changed = state.changed[option.name] { return changed }
            if let text = state.inForce.textInFile(of: option.name) { return text }
            let text = option.text(in: state.settings)
            return text == option.defaultValue ? nil : text
        }
    }

    /// Reads the settings file again. The user's changes stay in force.
    public func reload() throws(SettingsError) {
        guard let source else { return }
        let inForce = try SettingsInForce(source.invocation, source.locations)
        change { $0.inForce = inForce }
    }

    /// Replaces the settings of the file and the command line. The user's changes stay in force.
    public func replace(with settings: Settings) {
        change { $0.inForce = SettingsInForce(settings) }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            var wanted = state.inForce.settings
            for (name, text) in state.changed {
                guard let option = SettingsTable.option(named: name) else { continue }
                // The value was checked when the user gave it.
                if let text { try? option.set(text, in: &wanted) } else { option.reset(in: &wanted) }
            }
            expandHome(&wanted)
            state.settings = state.settings.adopting(wanted)
            // Send under the lock, so that no older settings arrive after newer ones. A cancelled watcher is removed
            // only here: while a watcher is being cancelled, it must not wait for this lock.
            let settings = state.settings
            state.watchers.removeAll { watcher in
                if case .terminated = watcher.yield(settings) { true } else { false }
            }
        }
    }

    private func expandHome(_ settings: inout Settings) {
        if let source { settings.expandHome(source.locations.home) }
    }

    private static func option(named name: String) throws(SettingsError) -> SettingsOption {
        guard let option = SettingsTable.option(named: name) else { throw .unknownOption(name) }
        return option
    }
}

/// Changes one setting in the text of a settings file. All other lines stay as they are.
///
///     SettingsEdit(text).setting(option, to: "light")
struct SettingsEdit {
    private let text: String
    private let lines: [Line]

    private struct Line {
        /// The characters of the line without its newline.
        let content: Range<String.Index>
        /// The characters of the line with its newline.
        let whole: Range<String.Index>
    }

    /// Divides a text into lines, as the reader of settings files does.
    init(_ text: String) {
        self.text = text
        var lines: [Line] = []
        var start = text.startIndex
        while start < text.endIndex {
            let end = text[start...].firstIndex(where: \.isNewline) ?? text.endIndex
            let next = end < text.endIndex ? text.index(after: end) : end
            lines.append(Line(content: start..<end, whole: start..<next))
            start = next
        }
        self.lines = lines
    }

    /// Returns the text with a new value for a setting. Nil removes the lines that set the setting.
    ///
    /// The last line that sets the setting gets the value, because Vitrine uses the last of several lines. If no line
    /// sets the setting, the call appends a line.
    func setting(_ option: SettingsOption, to value: String?) -> String {
        let own = lines.filter { name(in: $0) == option.name }
        var new = text
        guard let value else {
            for line in own.reversed() { new.removeSubrange(line.whole) }
            return new
        }
        guard let last = own.last, let equals = text[last.content].firstIndex(of: "=") else {
            return appending("\(option.name) = \(value)")
        }
        let start = text.index(after: equals)
        let former = text[start..<last.content.upperBound]
        let gap = former.prefix { $0.isWhitespace }
        let space = former.allSatisfy(\.isWhitespace) ? (text[..<equals].last?.isWhitespace == true ? " " : "") : gap
        new.replaceSubrange(start..<last.content.upperBound, with: space + value)
        if let comment = comment(in: former.trimmed, of: option) {
            new.insert(contentsOf: comment + newline, at: last.content.lowerBound)
        }
        return new
    }

    /// Returns the comment after a value; nil if the whole text is a value.
    ///
    /// In a settings file, only a line of its own can hold a comment. So the edit moves a comment after a value to its
    /// own line.
    private func comment(in value: String, of option: SettingsOption) -> String? {
        var settings = Settings()
        func isValid(_ text: String) -> Bool { (try? option.set(text, in: &settings)) != nil }
        guard let hash = value.firstIndex(of: "#"), hash > value.startIndex,
            value[value.index(before: hash)].isWhitespace, !isValid(value), isValid(value[..<hash].trimmed)
        else { return nil }
        return String(value[hash...])
    }

    private func appending(_ line: String) -> String {
        let isOpen = text.last.map { !$0.isNewline } ?? false
        return text + (isOpen ? newline : "") + line + newline
    }

    /// The newline that the text uses.
    private var newline: String { text.contains("\r\n") ? "\r\n" : "\n" }

    /// Returns the name of the setting that a line sets.
    private func name(in line: Line) -> String? {
        let content = text[line.content].drop { $0 == "\u{FEFF}" }.trimmed
        guard !content.isEmpty, !content.hasPrefix("#"), !SettingsFile.isBinding(content) else { return nil }
        return content.firstIndex(of: "=").map { content[..<$0].trimmed }
    }
}
