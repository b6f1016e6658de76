import Glibc

/// The settings as they hold: those of the file, and over them what the command line says.
///
///     let inForce = try SettingsInForce(invocation, locations)
///     for mistake in inForce.mistakes { complain("\(mistake)") }
///     use(inForce.settings)
///
/// A file that was named has to be there and to be readable. The usual one need not: what is wrong with it is one of the
/// ``mistakes``, and keeps nobody from looking at photos.
public struct SettingsInForce: Sendable {
    /// What holds.
    public let settings: Settings
    /// What of the file is wrong and was passed over.
    public let mistakes: [SettingsFile.Mistake]
    /// The file that was read, if it is there.
    public let path: String

    /// How many mistakes are told one by one where there is little room.
    private static let told = 5

    /// Reads the file that the command line names, or the usual one, and applies the command line over it.
    public init(_ invocation: Invocation, _ locations: Locations) throws(SettingsError) {
        path = invocation.settingsFile ?? locations.settingsFile
        var settings = Settings()
        if invocation.settingsFile != nil {
            guard let text = try PrivateFile.read(path) else {
                throw .file(path: path, reason: "there is no such file")
            }
            mistakes = SettingsFile.apply(text, path: path, to: &settings)
        } else {
            mistakes = Self.applyUsual(path, to: &settings)
        }
        try invocation.apply(to: &settings)
        settings.expandHome(locations.home)
        self.settings = settings
    }

    private static func applyUsual(_ path: String, to settings: inout Settings) -> [SettingsFile.Mistake] {
        do throws(SettingsError) {
            // Whoever reads a pipe waits for somebody who writes into it.
            var status = stat()
            let isThere = stat(path, &status) == 0
            guard !isThere || [S_IFREG, S_IFCHR].contains(status.st_mode & S_IFMT) else {
                throw .file(path: path, reason: "it is no file")
            }
            return SettingsFile.apply(try PrivateFile.read(path) ?? "", path: path, to: &settings)
        } catch {
            return [SettingsFile.Mistake(path: path, line: nil, error: error)]
        }
    }

    /// The mistakes for a line of the screen: the first ones, and where the others are to be found.
    public var notices: [String] {
        guard mistakes.count > Self.told else { return mistakes.map(\.notice) }
        let rest = "There are \(mistakes.count - Self.told) more mistakes; “vitrine config check” names them all."
        return mistakes.prefix(Self.told).map(\.notice) + [rest]
    }
}
