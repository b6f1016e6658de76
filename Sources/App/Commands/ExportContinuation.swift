import Export
import Glibc
import Settings
import Text

/// A shell command that continues an interrupted export.
///
/// If the command is long, contains control characters, or contains an address's query, which may be a secret, Vitrine writes
/// the command into a script, and prints a command that runs the script.
struct ExportContinuation {
    let rest: ExportRest
    /// The interrupted command line. The new command repeats the settings of the interrupted command.
    let invocation: Invocation
    /// Whether the gallery needs a password, which the new command omits.
    let needsPassword: Bool
    let locations: Locations

    /// The length of the longest command that Vitrine prints, in bytes.
    private static let longest = 4_000

    /// Returns the advice to print, with the command as the last line.
    func lines() -> [String] {
        var lines: [String] = []
        if needsPassword {
            lines.append(
                "The command below has no password. First add the password for \(rest.gallery.host) to ~/.netrc or to the "
                    + "gallery’s address: \(rest.gallery.scheme.rawValue)://USER:PASSWORD@…")
        }
        let command = command(rest.gallery.text)
        let isPrintable = rest.gallery.query == nil && command == command.madeVisible
        if isPrintable, command.utf8.count <= Self.longest {
            return lines + ["To save the remaining photos, run:", command]
        }
        if let script = write(command) {
            return lines + ["To save the remaining photos, run:", "sh " + script.shellWord]
        }
        if isPrintable { return lines + ["To save the remaining photos, run:", command] }
        if rest.gallery.query != nil {
            lines.append("Replace QUERY by the text after “?” in the gallery’s address; it may be a secret.")
        }
        let address = rest.gallery.text.prefix { $0 != "?" } + (rest.gallery.query == nil ? "" : "?QUERY")
        return lines + ["To save the remaining photos, run:", self.command(String(address)).madeVisible]
    }

    private func command(_ address: String) -> String {
        // After “--” no id is taken for an option.
        let dashes = rest.ids.contains { $0.hasPrefix("-") } ? ["--"] : []
        let words =
            [Self.program] + invocation.settingArguments + ["export"] + dashes + [address, rest.folder] + rest.ids
        return words.map(\.shellWord).joined(separator: " ")
    }

    /// Writes a private script that removes itself on success. Returns the path of the script, or nil on failure.
    private func write(_ command: String) -> String? {
        let path = "\(locations.state)/export-\(getpid())-\(UInt16.random(in: 0...UInt16.max)).sh"
        let text = """
            #!/bin/sh
            # Continues an interrupted export of Vitrine. Removes itself when all photos are exported.
            \(command) && rm -- "$0"

            """
        return path == path.madeVisible && (try? PrivateFile.write(text, to: path)) != nil ? path : nil
    }

    /// The program's name if the shell found the program by name, or else its absolute path.
    private static var program: String {
        let name = CommandLine.arguments.first ?? "vitrine"
        guard name.contains("/") else { return name.isEmpty ? "vitrine" : name }
        return name.hasPrefix("/") ? name : GalleryArgument.currentFolder + "/" + name
    }
}
