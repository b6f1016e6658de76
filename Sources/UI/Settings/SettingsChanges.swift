import Logging
import Session
import Settings
import Text

/// A change of a setting that the user requests.
///
///     SettingChange(typed: "theme light")      // also: theme=light
///     SettingChange(typed: "theme&")           // return to the default
///     SettingChange(typed: "theme")            // show the value
public struct SettingChange: Equatable, Sendable {
    /// The actions that the user can perform on a setting.
    enum Action: Equatable, Sendable {
        case show
        case set(String)
        /// Return to the default value.
        case restoreDefault
    }

    let name: String
    let action: Action
    /// Whether the change goes into the settings file.
    var isKept = false
    /// Whether the screen shows the new value, so that no notice appears.
    var isVisible = false

    init(_ name: String, _ action: Action, isKept: Bool = false, isVisible: Bool = false) {
        (self.name, self.action, self.isKept, self.isVisible) = (name, action, isKept, isVisible)
    }

    /// Parses the text that the user typed after `set`.
    init(typed text: String, isKept: Bool = false) {
        let text = text.drop { $0.isWhitespace }
        let name = text.prefix { !$0.isWhitespace && !"=&?".contains($0) }
        var rest = text[name.endIndex...].drop { $0.isWhitespace }
        let sign = rest.first
        if let sign, "=&?".contains(sign) { rest = rest.dropFirst().drop { $0.isWhitespace } }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        let action: Action =
            switch sign {
            case "&" where rest.isEmpty: .restoreDefault
            case "?" where rest.isEmpty, nil: .show
            default: .set(String(rest))
            }
        self.init(String(name), action, isKept: isKept)
    }
}

/// Performs the user's changes of settings, and reports the results.
@MainActor
final class SettingsChanges {
    /// Called after a change, so that the screens adopt it.
    var onChange: () -> Void = {}
    /// Called with a sentence for the user.
    var onNotice: (String) -> Void = { _ in }

    private let live: LiveSettings
    private let activity: Activity
    private let log: Log
    /// The task of the last change that waits for the disk. Each task waits for the previous task.
    private var saving: Task<Void, Never>?
    /// The number of changes that wait for the disk. Later changes wait for them, so that all changes keep their order.
    private var pending = 0

    init(_ context: ScreenContext) {
        (live, activity, log) = (context.live, context.activity, context.log)
    }

    /// Performs the change that the user typed after `set`.
    func perform(_ text: String, isKept: Bool = false) { perform(SettingChange(typed: text, isKept: isKept)) }

    /// Performs a change.
    func perform(_ change: SettingChange) {
        guard let option = SettingsTable.option(named: change.name) else {
            return onNotice("\(SettingsError.unknownSetting(change.name))")
        }
        switch change.action {
        case .show where !change.isKept: onNotice(SettingText.summary(of: option, live))
        // Without a new value, save the value that is in force.
        case .show: keep(option, live.textToKeep(of: option), change)
        case .set(let value): perform(option, value, change)
        case .restoreDefault: perform(option, nil, change)
        }
    }

    private func perform(_ option: SettingsOption, _ value: String?, _ change: SettingChange) {
        guard !change.isKept else { return keep(option, value, change) }
        guard pending == 0, !option.namesFile else {
            return performSlowly(option, change) { [live] () throws(SettingsError) in
                try live.set(option.name, to: value)
            }
        }
        do throws(SettingsError) {
            finish(option, try live.set(option.name, to: value), change)
        } catch {
            onNotice(error.description)
        }
    }

    private func keep(_ option: SettingsOption, _ value: String?, _ change: SettingChange) {
        performSlowly(option, change, isInFile: value != nil) { [live] () throws(SettingsError) in
            try live.keep(option.name, value)
        }
    }

    private func performSlowly(
        _ option: SettingsOption, _ change: SettingChange, isInFile: Bool = false,
        _ body: @escaping @Sendable () throws(SettingsError) -> String?
    ) {
        runOffMain(body) { $0.finish(option, $1, change, isInFile: isInFile) }
    }

    /// Runs a change off the main actor, because the disk may be slow. Changes take effect in their order.
    private func runOffMain<Value: Sendable>(
        _ body: @escaping @Sendable () throws(SettingsError) -> Value,
        then finish: @escaping @MainActor (SettingsChanges, Value) -> Void
    ) {
        pending += 1
        saving = Task { [weak self, previous = saving] in
            await previous?.value
            let result = await Task.detached { () -> Result<Value, SettingsError> in
                do throws(SettingsError) { return .success(try body()) } catch { return .failure(error) }
            }.value
            guard let self else { return }
            pending -= 1
            switch result {
            case .success(let value): finish(self, value)
            case .failure(let error): onNotice(error.description)
            }
        }
    }

    private func finish(
        _ option: SettingsOption, _ sentence: String?, _ change: SettingChange, isInFile: Bool = false
    ) {
        onChange()
        let value = SettingText.value(live.nextValue(of: option) ?? option.text(in: live.settings))
        guard change.isKept else {
            if let notice = sentence ?? (change.isVisible ? nil : "\(option.name) = \(value)") { onNotice(notice) }
            return
        }
        let kept =
            isInFile
            ? "\(option.name) = \(value), saved to the settings file."
            : "\(option.name) = \(value). Removed the setting from the settings file."
        onNotice([kept, isInFile ? sentence : nil].compactMap { $0 }.joined(separator: " "))
    }

    /// Reads the settings file again, and reports its mistakes.
    func reload() {
        runOffMain { [live] () throws(SettingsError) in
            try live.reload()
        } then: { changes, _ in
            changes.reportReload()
        }
    }

    private func reportReload() {
        onChange()
        let inForce = live.inForce
        for mistake in inForce.mistakes { log.error(.screen, "\(mistake)") }
        var notices = inForce.notices
        let waiting = SettingsTable.options.filter { live.nextValue(of: $0) != nil }
        if !waiting.isEmpty {
            let names = waiting.map { "“\($0.name)”" }.joined(separator: ", ")
            notices.append("Settings reloaded. Restart Vitrine to apply: \(names).")
        }
        // A mistake comes first. The message about the success would hide it.
        for notice in notices.dropFirst() { activity.postNotice(notice) }
        onNotice(notices.first ?? "Settings reloaded.")
    }

    /// Returns when no change waits for the disk.
    func settled() async { await saving?.value }
}

/// Texts about settings.
enum SettingText {
    /// Returns a setting's value as text for the screen.
    static func value(_ text: String) -> String { text.isEmpty ? "not set" : text.madeVisible }

    /// Returns the source of a setting's value as text, such as `command line`.
    static func origin(_ origin: SettingsInForce.Origin) -> String {
        switch origin {
        case .standard: "default"
        case .file(let path, let line): "\(fileName(path)), line \(line)"
        case .commandLine: "command line"
        case .session: "changed here"
        }
    }

    /// Returns the name of a file without its folder.
    static func fileName(_ path: String) -> String {
        String(path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]).madeVisible
    }

    /// Returns a text with a setting's value, the value's source, and the default.
    static func summary(of option: SettingsOption, _ live: LiveSettings) -> String {
        let next = live.nextValue(of: option).map { " At the next start: \(value($0))." } ?? ""
        return "\(option.name) = \(value(option.text(in: live.settings))) (\(origin(live.origin(of: option)))). "
            + "Default: \(value(option.defaultValue)).\(next)"
    }
}
