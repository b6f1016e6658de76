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
