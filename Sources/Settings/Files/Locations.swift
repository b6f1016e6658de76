/// The paths of Vitrine's files, by the XDG Base Directory Specification.
public struct Locations: Hashable, Sendable {
    /// The user's home folder.
    public let home: String
    /// The folder for settings and the list of galleries.
    public let config: String
    /// The folder for the caches of galleries.
    public let cache: String
    /// The folder for data that Vitrine keeps between runs, such as positions.
    public let state: String
    /// The folder for the user's own work, such as ratings, which Vitrine cannot fetch again.
    private let data: String

    /// Determines the paths of the user's folders.
    ///
    /// - Parameters:
    ///   - fallback: the home folder, if `HOME` is not set.
    ///   - variable: looks up an environment variable.
    public init(fallback: @autoclosure () -> String = "/", _ variable: (String) -> String?) {
        let home = Self.absolute(variable("HOME")) ?? fallback()
        self.home = home
        func folder(_ name: String, _ usual: String) -> String {
            // "All paths set in these environment variables must be absolute. If an implementation encounters a
            // relative path … it should consider the path invalid and ignore it."
            (Self.absolute(variable(name)) ?? "\(home)/\(usual)") + "/vitrine"
        }
        config = folder("XDG_CONFIG_HOME", ".config")
        cache = folder("XDG_CACHE_HOME", ".cache")
        state = folder("XDG_STATE_HOME", ".local/state")
        data = folder("XDG_DATA_HOME", ".local/share")
    }

    /// The path of the settings file.
    public var settingsFile: String { config + "/config" }
    /// The path of the list of galleries.
    public var galleriesFile: String { config + "/galleries" }
    /// The path of the file with passwords, if the user keeps passwords in a file.
    public var passwordsFile: String { config + "/passwords" }
    /// The path of the file with network measurements of hosts.
    public var networkFile: String { state + "/network" }
    /// The path of the desktop's file that names the user's folders.
    public var userFoldersFile: String { config.dropLast("vitrine".count) + "user-dirs.dirs" }
    /// The folder in which the desktop's programs share thumbnails.
    public var thumbnailsFolder: String { cache.dropLast("vitrine".count) + "thumbnails" }
    /// The path of the file with typed commands.
    public var commandsFile: String { state + "/commands" }
    /// The path of the file with the user's positions in galleries.
    public var placesFile: String { state + "/places" }
    /// The path of the file in which older versions kept a single position.
    public var placeFile: String { state + "/place" }

    /// The folder with the user's own ratings, a file for each gallery.
    public var ratingsFolder: String { data + "/ratings" }
    /// The folder with a file for each running browser. A file without its process reveals a crash.
    public var runningFolder: String { state + "/running" }
    /// The folder with the results of work without a terminal. The next start shows the results.
    public var reportsFolder: String { state + "/reports" }

    private static func absolute(_ path: String?) -> String? {
        guard let path, path.hasPrefix("/") else { return nil }
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }
}

/// The user's folders, as the file of xdg-user-dirs names them.
///
///     UserFolders(text: "XDG_PICTURES_DIR=\"$HOME/Bilder\"", home: "/home/me").pictures    // "/home/me/Bilder"
public struct UserFolders: Equatable, Sendable {
    /// The pictures folder, if the file names one.
    public let pictures: String?

    /// Reads the text of the xdg-user-dirs file.
    ///
    /// "Format is XDG_xxx_DIR="$HOME/yyy", where yyy is a shell-escaped homedir-relative path, or
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
        // `$HOME/` alone means that the user wants no such folder. The line above then returns the home folder.
        return path.hasPrefix("/") ? path : nil
    }
}
