import Commands
import Model

/// All settings, with their defaults.
public struct Settings: Hashable, Sendable {
    /// Characters that Vitrine can draw pictures with.
    public enum Symbols: String, CaseIterable, Hashable, Sendable {
        case auto, ascii, ramp, half, quad, sextant
    }

    /// The numbers of colours that Vitrine can use.
    public enum Colours: String, CaseIterable, Hashable, Sendable {
        case auto, none
        case sixteen = "16"
        case palette = "256"
        case full
    }

    /// Protocols that send pixels to the terminal.
    public enum Pixels: String, CaseIterable, Hashable, Sendable {
        case auto, none, sixel, kitty, iterm
    }

    /// Backgrounds for transparent pictures.
    public enum Transparency: String, CaseIterable, Hashable, Sendable {
        /// The terminal's background, or black if the background is unknown.
        case background
        /// A chequerboard of two greys.
        case chequer
    }

    /// Colour themes of the interface.
    public enum Theme: String, CaseIterable, Hashable, Sendable {
        /// The dark or the light theme, depending on the terminal's background.
        case auto
        case dark, light, contrast, mono
    }

    /// Levels of logging.
    public enum LogLevel: String, CaseIterable, Hashable, Sendable {
        case error, info, debug
    }

    /// The ways to divide a list into sections. Sections by year, month or day need a list in the order of dates.
    public enum Sections: String, CaseIterable, Hashable, Sendable {
        /// Sections by year in long lists, and no sections in short lists.
        case auto
        case year, month, day, folder, none

        /// The rule for dividing a list that has sections.
        public var rule: SectionRule {
            switch self {
            case .auto, .year: .year
            case .month: .month
            case .day: .day
            case .folder: .folder
            case .none: .none
            }
        }
    }

    /// The folder for caches; nil for the default folder.
    public var cacheFolder: String?
    /// The maximum size of all caches together, in bytes; nil for no limit.
    public var cacheLimit: Int64? = 2 << 30
    /// The file that also receives the log, if any.
    public var logFile: String?
    /// The amount of logging.
    public var logLevels = LogLevels()
    /// The host whose request and answer headers the log shows, if any.
    public var logExchanges: String?
    /// Whether Vitrine fetches nothing.
    public var offline = false
    /// Whether Vitrine requires a complete sandbox. If the system cannot restrict the fetcher and the decoders
    /// completely, Vitrine then fetches and decodes nothing.
    public var requireSandbox = false
    /// Whether Vitrine draws with ASCII only.
    public var ascii = false
    /// The characters for pictures.
    public var symbols = Symbols.auto
    /// The colours to use.
    public var colours = Colours.auto
    /// The pixel protocol.
    public var pixels = Pixels.auto
    /// The background of transparent pictures.
    public var transparency = Transparency.background
    /// The colour theme.
    public var theme = Theme.auto
    /// Whether Vitrine uses words instead of drawings, for speech and Braille.
    public var plain = false
    /// Whether Vitrine updates a gallery when the user opens it.
    public var syncOnOpen = true
    /// Whether Vitrine updates the open gallery when the terminal's window gets the focus.
    public var syncOnFocus = false
    /// Minutes between automatic updates; 0 for none.
    public var syncInterval = 0
    /// Whether Vitrine fetches every thumbnail, not only those near the screen.
    public var allThumbnails = false
    /// Whether Vitrine fetches every photo, after everything else.
    public var allPhotos = false
    /// The number of simultaneous transfers; 0 to adapt to the network.
    public var transfers = 0
    /// A PEM file with certificates to trust instead of the system's.
    public var caFile: String?
    /// A PEM file with the user's certificate, for servers that require one.
    public var clientCertificate: String?
    /// A PEM file with the key of the user's certificate; nil if the certificate's file contains the key.
    public var clientKey: String?
    /// The only host that receives the user's certificate; nil for all hosts that require one.
    public var clientCertificateHost: String?
    /// The path of the netrc file; nil for `~/.netrc`.
    public var netrc: String?
    /// The default place to keep passwords.
    public var passwords = SignInKeeping.session
    /// Milliseconds to delay each transfer, for tests.
    public var debugDelay = 0
    /// Lets every Nth request fail, for tests; 0 for none.
    public var debugFailures = 0
    /// Rows for each photo in a list; 0 for automatic.
    public var rowHeight = 0
    /// Seconds for each photo of a slideshow.
    public var slideshow = 5
    /// Whether slideshows have a random order.
    public var slideshowShuffled = false
    /// The program that opens photos; nil for the desktop's program.
    public var openWith: String?
    /// The folder to suggest for saving photos; nil for the desktop's pictures folder.
    public var exportFolder: String?
    /// Whether Vitrine uses the mouse. With the mouse in use, the terminal selects text only with Shift.
    public var mouse = true

    /// The key bindings.
    public var keys = KeyMap()

    /// The initial order of photos.
    public var order = PhotoOrder()
    /// How Vitrine divides a list into sections when the list opens.
    public var sections = Sections.auto

    /// Creates settings with their default values.
    public init() {}
}

extension Settings {
    /// The settings that hold a path, or a command that begins with a path. The path may begin with `~/`.
    private static var paths: [WritableKeyPath<Settings, String?>] {
        [
            \.cacheFolder, \.logFile, \.caFile, \.clientCertificate, \.clientKey, \.netrc, \.exportFolder, \.openWith,
        ]
    }

    /// Replaces `~/` at the start of paths by the home folder.
    ///
    /// No shell expands `~/` in a settings file, nor after a `=` on the command line.
    mutating func expandHome(_ home: String) {
        for path in Self.paths {
            self[keyPath: path] = self[keyPath: path]?.expandingHome(home)
        }
    }
}

extension String {
    /// Returns the path with the home folder in place of `~/` at its start.
    func expandingHome(_ home: String) -> String {
        hasPrefix("~/") ? home + dropFirst() : self
    }
}

extension Settings {
    /// Returns these settings with the changes that can take effect while Vitrine runs.
    public func adopting(_ new: Settings) -> Settings {
        var adopted = new
        for option in SettingsTable.options where option.text(in: self) != option.text(in: new) {
            guard case .atNextStart = option.effect else { continue }
            option.take(from: self, into: &adopted)
        }
        return adopted
    }
}
