import Export
import Glibc
import Settings
import Text

/// How the user goes on with an export that was stopped: a command to be pasted into a shell.
///
/// A command that is long, or holds what may not reach a terminal, is written into a script, and the user is given that one.
/// Two things are such: control characters, and the query of an address, which may be a secret.
struct ExportContinuation {
    let rest: ExportRest
    /// The options of the command line go along.
    let invocation: Invocation
    /// Whether the gallery's server was told a password, which is nowhere in the command.
    let needsPassword: Bool
    let locations: Locations

    /// The longest command that is easily pasted.
    private static let longest = 4_000

    /// Lines for the terminal: what to do, and the command as the last one.
    func lines() -> [String] {
        var lines: [String] = []
        if needsPassword {
            lines.append(
                "The command below holds no password. Put the one for \(rest.gallery.host) into ~/.netrc first, or into the "
                    + "gallery’s address: \(rest.gallery.scheme.rawValue)://USER:PASSWORD@…")
        }
        let command = command(rest.gallery.text)
        let isPrintable = rest.gallery.query == nil && command == command.madeVisible
        if isPrintable, command.utf8.count <= Self.longest {
            return lines + ["To go on with the rest:", command]
        }
        if let script = write(command) {
            return lines + ["To go on with the rest:", "sh " + script.shellWord]
        }
        if isPrintable { return lines + ["To go on with the rest:", command] }
        if rest.gallery.query != nil {
            lines.append("Put what the gallery’s address has behind its “?” in place of QUERY: it may be a secret.")
        }
        let address = rest.gallery.text.prefix { $0 != "?" } + (rest.gallery.query == nil ? "" : "?QUERY")
        return lines + ["To go on with the rest:", self.command(String(address)).madeVisible]
    }

    private func command(_ address: String) -> String {
        // Behind two dashes nothing is an option.
        let dashes = rest.ids.contains { $0.hasPrefix("-") } ? ["--"] : []
        let words =
            [Self.program] + invocation.settingArguments + ["export"] + dashes + [address, rest.folder] + rest.ids
        return words.map(\.shellWord).joined(separator: " ")
    }

    /// Writes a script for the user alone, which removes itself when nothing is left. Returns its path.
    private func write(_ command: String) -> String? {
        let path = "\(locations.state)/export-\(getpid())-\(UInt16.random(in: 0...UInt16.max)).sh"
        let text = """
            #!/bin/sh
            # Goes on with an export that Vitrine was stopped in. It removes itself when all photos are exported.
            \(command) && rm -- "$0"

            """
        return path == path.madeVisible && (try? PrivateFile.write(text, to: path)) != nil ? path : nil
    }

    /// The name of this program as the shell finds it, or a path that holds in every folder.
    private static var program: String {
        let name = CommandLine.arguments.first ?? "vitrine"
        guard name.contains("/") else { return name.isEmpty ? "vitrine" : name }
        return name.hasPrefix("/") ? name : GalleryArgument.currentFolder + "/" + name
    }
}
