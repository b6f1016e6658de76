import Settings
import Text

/// `vitrine config`: prints settings and finds mistakes.
struct ConfigCommand {
    let invocation: Invocation
    let output: Output
    let locations = Locations()

    func run(_ action: Invocation.ConfigAction) throws -> ExitCode {
        switch action {
        case .list(let json): try list(json: json)
        case .path:
            output.print(SettingsInForce.path(invocation, locations).madeVisible)
            return .done
        case .check(let json, let file): return try check(file, json: json)
        }
        return .done
    }

    /// Prints name, value, default and description of every setting, in the order of the help.
    private func list(json: Bool) throws {
        let inForce = try SettingsInForce(invocation, locations)
        for mistake in inForce.mistakes { Output.complain("\(mistake)") }
        let settings = inForce.settings
        guard json else {
            for option in SettingsTable.options {
                let fields = [option.name, option.text(in: settings), option.defaultValue, option.meaning]
                output.print(fields.map(\.madeVisible).joined(separator: "\t"))
            }
            return
        }
        let options = SettingsTable.options.map { option in
            JSONText.object([
                ("name", .string(option.name)), ("value", .string(option.text(in: settings))),
                ("default", .string(option.defaultValue)), ("takes", .string(option.value ?? "yes|no")),
                ("meaning", .string(option.meaning)),
            ])
        }
        output.print(JSONText.array(options).text)
    }

    /// Prints the mistakes of a settings file, in the format of compiler messages.
    ///
    /// The command also reports unreadable certificates, keys and netrc files, which would prevent all transfers.
    private func check(_ file: String?, json: Bool) throws -> ExitCode {
        var checked = invocation
        if let file { checked.settingsFile = file }
        let inForce = try SettingsInForce(checked, locations)
        let mistakes = inForce.mistakes
        var trouble: SettingsError?
        do throws(SettingsError) { _ = try Services.httpConfiguration(inForce.settings, locations) } catch {
            trouble = error
        }
        if json {
            var members = mistakes.map { member($0.path, $0.line, $0.error) }
            if let trouble { members.append(member(inForce.path, nil, trouble)) }
            output.print(JSONText.array(members).text)
        } else {
            for mistake in mistakes { output.print("\(mistake)".madeVisible) }
            if let trouble { output.print("\(trouble)".madeVisible) }
        }
        return mistakes.isEmpty && trouble == nil ? .done : .usage
    }

    private func member(_ path: String, _ line: Int?, _ error: SettingsError) -> JSONText {
        JSONText.object([
            ("file", .string(path)), ("line", line.map { .number($0) } ?? .null), ("mistake", .string("\(error)")),
        ])
    }
}
