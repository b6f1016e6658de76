/// What a command line asks for.
public struct Invocation: Equatable, Sendable {
    /// What to do.
    public enum Command: Equatable, Sendable {
        /// Browse a gallery; the last one, if none is named.
        case browse(String?)
        /// Fill the caches of galleries; of all that are known, if none is named.
        case sync(SyncScope, [String])
        /// List what the cache knows of a gallery.
        case list(json: Bool, String)
        /// Draw pictures on standard output.
        case show(size: ShowSize?, [String])
        /// Say what is known of pictures.
        case info(json: Bool, [String])
        /// Make a folder of photos a gallery.
        case publish(String)
        /// Copy photos of a gallery into a folder: those of these ids, or all.
        case export(String, folder: String, ids: [String])
        /// Look after caches.
        case cache(CacheAction, CacheTarget)
        /// Write the manual page.
        case man
        /// Write what makes a shell complete command lines.
        case completions(Shell)
        /// Say what can be set, and what is.
        case config(ConfigAction)
        /// Explain the command line.
        case help
        /// Say which version this is; verbosely, also what was found out about where it runs.
        case version(isVerbose: Bool)
    }

    /// What `sync` fetches.
    public enum SyncScope: Equatable, Sendable {
        /// The list and the thumbnails.
        case thumbnails
        /// The list alone.
        case list
        /// The photos too.
        case photos
    }

    /// What `cache` does.
    public enum CacheAction: String, CaseIterable, Equatable, Sendable {
        case info, clear, check
        /// Clear, but the photos alone.
        case clearPhotos = "clear --photos"

        /// What is typed for them: an option is no word.
        static var names: [String] { allCases.map(\.rawValue).filter { !$0.contains(" ") } }
    }

    /// Shells that complete command lines.
    public enum Shell: String, CaseIterable, Equatable, Sendable {
        case bash, zsh, fish
    }

    /// Whose cache it does it to.
    public enum CacheTarget: Equatable, Sendable {
        /// Every gallery's.
        case all
        /// One gallery's.
        case gallery(String)
    }

    /// What `config` does.
    public enum ConfigAction: Equatable, Sendable {
        /// List every option.
        case list(json: Bool)
        /// Say which settings file is read.
        case path
        /// Say what is wrong with a settings file; with the one that is read, if none is named.
        case check(json: Bool, String?)
    }

    /// The room for a picture, in cells.
    public struct ShowSize: Equatable, Sendable {
        /// How wide.
        public let columns: Int
        /// How high.
        public let rows: Int
    }

    /// What to do.
    public var command: Command
    /// A settings file in place of the usual one.
    public var settingsFile: String?
    /// What the command line sets, by name and value, in order. It comes after the settings file.
    public var settings: [Setting] = []

    /// Whether the list of galleries and the place are forgotten first, without a question.
    public var clearsSetup = false
    /// Whether all caches are removed first, without a question.
    public var clearsCache = false

    /// One thing that the command line sets.
    public struct Setting: Equatable, Sendable {
        let name: String
        let value: String
    }

    /// The options of the command line, and the settings file that it names, as arguments of another command.
    public var settingArguments: [String] {
        (settingsFile.map { ["--config=" + $0] } ?? []) + settings.map { "--\($0.name)=\($0.value)" }
    }

    /// Applies what the command line sets.
    public func apply(to settings: inout Settings) throws(SettingsError) {
        for setting in self.settings {
            guard let option = SettingsTable.option(named: setting.name) else { throw .unknownOption(setting.name) }
            try option.set(setting.value, in: &settings)
        }
    }
}
