/// Where Vitrine keeps its files, by the XDG Base Directory Specification.
public struct Locations: Hashable, Sendable {
    /// The user's home folder.
    public let home: String
    /// What the user wrote: settings, and the galleries beside them.
    public let config: String
    /// What can be fetched again.
    public let cache: String
    /// What is worth keeping between runs, but not more: the log, the place one was at.
    public let state: String

    /// Works them out.
    ///
    /// - Parameters:
    ///   - variable: looks up an environment variable.
    ///   - fallback: the home folder, asked for where `HOME` does not say.
    public init(fallback: @autoclosure () -> String = "/", _ variable: (String) -> String?) {
        let home = Self.absolute(variable("HOME")) ?? fallback()
        self.home = home
        func folder(_ name: String, _ usual: String) -> String {
            // "All paths set in these environment variables must be absolute. If an implementation encounters a relative
            // path … it should consider the path invalid and ignore it."
            (Self.absolute(variable(name)) ?? "\(home)/\(usual)") + "/vitrine"
        }
        config = folder("XDG_CONFIG_HOME", ".config")
        cache = folder("XDG_CACHE_HOME", ".cache")
        state = folder("XDG_STATE_HOME", ".local/state")
    }

    /// The settings file.
    public var settingsFile: String { config + "/config" }
    /// The galleries that the user remembers.
    public var galleriesFile: String { config + "/galleries" }
    /// Passwords that the user wants kept in a file.
    public var passwordsFile: String { config + "/passwords" }
    /// What was found out about hosts.
    public var networkFile: String { state + "/network" }
    /// Where the desktop keeps which folders the user has.
    public var userFoldersFile: String { config.dropLast("vitrine".count) + "user-dirs.dirs" }
    /// Commands that were typed by their names.
    public var commandsFile: String { state + "/commands" }
    /// Where one was in each gallery.
    public var placesFile: String { state + "/places" }
    /// Where one was, as older versions kept it.
    public var placeFile: String { state + "/place" }

    /// A file for each browser that runs, by which a later start knows that one died.
    public var runningFolder: String { state + "/running" }

    private static func absolute(_ path: String?) -> String? {
        guard let path, path.hasPrefix("/") else { return nil }
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }
}

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
