/// One thing that can be set, in the settings file and on the command line: the one place that knows its name, its
/// values, its default and its meaning.
public struct SettingsOption: Sendable {
    /// As it stands in the settings file, and behind `--`.
    public let name: String
    /// The short form on the command line.
    public let letter: Character?
    /// What its value is called in the help; nil for a switch that is on by being named.
    public let value: String?
    /// What it does.
    public let meaning: String
    /// Whether the settings file knows it too.
    public let isSetting: Bool
    let apply: @Sendable (inout Settings, String) throws(SettingsError) -> Void
    let current: @Sendable (Settings) -> String

    /// Sets it from text.
    ///
    /// - Parameter settings: what it is set in.
    func set(_ text: String, in settings: inout Settings) throws(SettingsError) {
        try apply(&settings, text)
    }

    /// What holds where it is not set.
    public var defaultValue: String { current(Settings()) }

    /// What is set, as it stands in a file.
    public func text(in settings: Settings) -> String { current(settings) }

    // MARK: - Kinds

    static func flag(
        _ name: String, letter: Character? = nil, isSetting: Bool = true, _ meaning: String,
        _ path: @escaping @Sendable (inout Settings, Bool?) -> Bool
    ) -> SettingsOption {
        SettingsOption(
            name: name, letter: letter, value: nil, meaning: meaning, isSetting: isSetting,
            apply: { settings, text throws(SettingsError) in
                switch text {
                case "yes": _ = path(&settings, true)
                case "no": _ = path(&settings, false)
                default: throw .value(text, of: name, allowed: "yes or no")
                }
            },
            current: { settings in
                var settings = settings
                return path(&settings, nil) ? "yes" : "no"
            })
    }

    static func choice<Value: RawRepresentable & CaseIterable & Sendable>(
        _ name: String, letter: Character? = nil, _ meaning: String, _ path: WritableKeyPath<Settings, Value> & Sendable
    ) -> SettingsOption where Value.RawValue == String {
        let names = Value.allCases.map(\.rawValue)
        return SettingsOption(
            name: name, letter: letter, value: names.joined(separator: "|"), meaning: meaning, isSetting: true,
            apply: { settings, text throws(SettingsError) in
                guard let value = Value(rawValue: text) else {
                    throw .value(text, of: name, allowed: "one of " + names.joined(separator: ", "))
                }
                settings[keyPath: path] = value
            },
            current: { $0[keyPath: path].rawValue })
    }

    /// - Parameter isAutoAllowed: whether `auto` is a value too, which is kept as 0.
    static func number(
        _ name: String, _ value: String, _ range: ClosedRange<Int>, orAuto isAutoAllowed: Bool = false,
        _ meaning: String, _ path: WritableKeyPath<Settings, Int> & Sendable
    ) -> SettingsOption {
        let allowed =
            (isAutoAllowed ? "auto, or " : "") + "a number from \(range.lowerBound) to \(range.upperBound)"
        return SettingsOption(
            name: name, letter: nil, value: isAutoAllowed ? "auto|" + value : value, meaning: meaning, isSetting: true,
            apply: { settings, text throws(SettingsError) in
                if isAutoAllowed, text == "auto" {
                    settings[keyPath: path] = 0
                } else if let number = Int(text), range.contains(number) {
                    settings[keyPath: path] = number
                } else {
                    throw .value(text, of: name, allowed: allowed)
                }
            },
            current: { settings in
                let number = settings[keyPath: path]
                return isAutoAllowed && number == 0 ? "auto" : String(number)
            })
    }

    /// An amount of data, or `none`.
    static func size(
        _ name: String, _ meaning: String, _ path: WritableKeyPath<Settings, Int64?> & Sendable
    ) -> SettingsOption {
        SettingsOption(
            name: name, letter: nil, value: "SIZE", meaning: meaning, isSetting: true,
            apply: { settings, text throws(SettingsError) in
                guard let size = DataSize(text) else { throw .value(text, of: name, allowed: DataSize.allowed) }
                settings[keyPath: path] = size.bytes
            },
            current: { DataSize(bytes: $0[keyPath: path]).text })
    }

    static func path(
        _ name: String, letter: Character?, _ value: String, _ meaning: String,
        _ path: WritableKeyPath<Settings, String?> & Sendable
    ) -> SettingsOption {
        SettingsOption(
            name: name, letter: letter, value: value, meaning: meaning, isSetting: true,
            apply: { settings, text throws(SettingsError) in
                guard !text.isEmpty else { throw .missingValue(name) }
                settings[keyPath: path] = text
            },
            current: { $0[keyPath: path] ?? "" })
    }
}
