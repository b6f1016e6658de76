/// Folders of the user's that the desktop knows by what is in them: what the file of xdg-user-dirs says.
///
///     UserFolders(text: "XDG_PICTURES_DIR=\"$HOME/Bilder\"", home: "/home/me").pictures    // "/home/me/Bilder"
public struct UserFolders: Equatable, Sendable {
    /// Where pictures are, if it says so.
    public let pictures: String?

    /// Reads the file. "Format is XDG_xxx_DIR="$HOME/yyy", where yyy is a shell-escaped homedir-relative path, or
    /// XDG_xxx_DIR="/yyy", where /yyy is an absolute path."
    public init(text: String, home: String) {
        pictures = text.lines.lazy.compactMap { Self.value(of: "XDG_PICTURES_DIR", in: $0.trimmed, home) }.first
    }

    private static func value(of name: String, in line: String, _ home: String) -> String? {
        guard line.hasPrefix(name + "=\""), line.hasSuffix("\""), line.count > name.count + 2 else { return nil }
        let quoted = line.dropFirst(name.count + 2).dropLast()
        var path = ""
        var isEscaped = false
        for character in quoted {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                path.append(character)
                isEscaped = false
            }
        }
        if path.hasPrefix("$HOME/") { return home + path.dropFirst("$HOME".count) }
        // A folder that the user does not want is said to be home itself.
        return path.hasPrefix("/") ? path : nil
    }
}
