import Commands
import Model

/// What the user can set, with what holds where nothing is said.
public struct Settings: Hashable, Sendable {
    /// Characters that pictures are drawn with.
    public enum Symbols: String, CaseIterable, Hashable, Sendable {
        case auto, ascii, ramp, half, quad, sextant
    }

    /// Colours that are used.
    public enum Colours: String, CaseIterable, Hashable, Sendable {
        case auto, none
        case sixteen = "16"
        case palette = "256"
        case full
    }

    /// How pictures are sent to terminals that take pixels.
    public enum Pixels: String, CaseIterable, Hashable, Sendable {
        case auto, none, sixel, kitty, iterm
    }

    /// What is seen through the transparent parts of pictures.
    public enum Transparency: String, CaseIterable, Hashable, Sendable {
        /// What is behind the text; black where that is not known.
        case background
        /// A board of two greys.
        case chequer
    }

    /// How the interface looks.
    public enum Theme: String, CaseIterable, Hashable, Sendable {
        /// As it can be read on what is behind it.
        case auto
        case dark, light, contrast, mono
    }

    /// How much goes into the log.
    public enum LogLevel: String, CaseIterable, Hashable, Sendable {
        case error, info, debug
    }

    /// How lists that are sorted by date are divided.
    public enum Sections: String, CaseIterable, Hashable, Sendable {
        /// By year, if they are long.
        case auto
        case year, month, day, none

        /// How, if they are divided.
        public var rule: SectionRule {
            switch self {
            case .auto, .year: .year
            case .month: .month
            case .day: .day
            case .none: .none
            }
        }
    }

    /// Where caches are kept, if not in the usual place.
    public var cacheFolder: String?
    /// Bytes that all caches may take together; nil for as many as they like.
    public var cacheLimit: Int64? = 2 << 30
    /// Where the log is written, if at all.
    public var logFile: String?
    /// How much goes into it.
    public var logLevel = LogLevel.info
    /// Nothing is fetched.
    public var offline = false
    /// Nothing but ASCII is drawn.
    public var ascii = false
    /// Characters that pictures are drawn with.
    public var symbols = Symbols.auto
    /// Colours that are used.
    public var colours = Colours.auto
    /// How pictures are sent to terminals that take pixels.
    public var pixels = Pixels.auto
    /// What is seen through the transparent parts of pictures.
    public var transparency = Transparency.background
    /// How the interface looks.
    public var theme = Theme.auto
    /// Words in place of drawings, for voices and for Braille.
    public var plain = false
    /// A gallery is updated when it is opened.
    public var syncOnOpen = true
    /// A gallery is updated when the terminal's window comes to the front.
    public var syncOnFocus = false
    /// Minutes between updates by themselves; 0 for never.
    public var syncInterval = 0
    /// Every thumbnail is fetched, not those alone that come near the screen.
    public var allThumbnails = false
    /// Every photo is fetched too, after everything else.
    public var allPhotos = false
    /// Transfers at once; 0 for as many as the network takes.
    public var transfers = 0
    /// A PEM file of certificates to trust in place of the system's.
    public var caFile: String?
    /// A PEM file with a certificate for servers that want one.
    public var clientCertificate: String?
    /// A PEM file with its key, if that is not in the same one.
    public var clientKey: String?
    /// The one host that is shown the certificate, if not every one that a gallery names.
    public var clientCertificateHost: String?
    /// A netrc file, if not the one at home.
    public var netrc: String?
    /// Where a password is kept that is asked for, if the user says nothing else.
    public var passwords = SignInKeeping.session
    /// Milliseconds by which each transfer begins later, to see what that is like.
    public var debugDelay = 0
    /// Every so-manieth request fails, to see what that is like; 0 for none.
    public var debugFailures = 0
    /// Rows of the screen for each photo in a list; 0 for as many as suit the screen.
    public var rowHeight = 0
    /// Seconds for which a slideshow shows each photo.
    public var slideshow = 5
    /// A slideshow does not go by the list.
    public var slideshowShuffled = false
    /// The program that photos are opened with, if not the desktop's.
    public var openWith: String?
    /// The folder that photos are saved to at first, if not that of the desktop for pictures.
    public var exportFolder: String?
    /// The mouse is followed. The terminal then leaves it to us, and selects text with Shift alone.
    public var mouse = true

    /// What the keys mean.
    public var keys = KeyMap()

    /// What lists of photos are sorted by at first.
    public var order = PhotoOrder()
    /// How they are divided at first.
    public var sections = Sections.auto

    /// The defaults.
    public init() {}
}

extension Settings {
    /// Files and folders of the user, which may be said as they are in a shell.
    private static var paths: [WritableKeyPath<Settings, String?>] {
        [\.cacheFolder, \.logFile, \.caFile, \.clientCertificate, \.clientKey, \.netrc, \.exportFolder]
    }

    /// Lets `~/` stand for the user's home: no shell has seen a settings file, nor what follows a `=` on a command line.
    mutating func expandHome(_ home: String) {
        for path in Self.paths {
            guard let text = self[keyPath: path], text.hasPrefix("~/") else { continue }
            self[keyPath: path] = home + text.dropFirst()
        }
    }
}

extension Settings {
    /// What holds when newer settings are read while the program runs: those that can be another matter from one frame to the
    /// next. The rest is put together when the program starts, and stays.
    ///
    /// - Returns: what holds now, and the names of the options that hold from the next start.
    public func adopting(_ new: Settings) -> (settings: Settings, waiting: [String]) {
        var adopted = new
        (adopted.cacheFolder, adopted.cacheLimit) = (cacheFolder, cacheLimit)
        (adopted.logFile, adopted.logLevel) = (logFile, logLevel)
        (adopted.offline, adopted.transfers, adopted.caFile, adopted.netrc) = (offline, transfers, caFile, netrc)
        (adopted.clientCertificate, adopted.clientKey) = (clientCertificate, clientKey)
        adopted.clientCertificateHost = clientCertificateHost
        (adopted.openWith, adopted.exportFolder) = (openWith, exportFolder)
        (adopted.debugDelay, adopted.debugFailures) = (debugDelay, debugFailures)
        let waiting = SettingsTable.options.filter { $0.text(in: adopted) != $0.text(in: new) }.map(\.name)
        return (adopted, waiting)
    }
}
