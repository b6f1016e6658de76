extension Address {
    /// Whether a gallery that was read from here may name that address as one of its pictures.
    ///
    /// A gallery is a stranger's text. One from the network names nothing on this machine; one from a folder names
    /// files of that folder only, or pictures on the network.
    public func mayName(_ other: Address) -> Bool {
        switch (scheme, other.scheme) {
        case (_, .http), (_, .https): true
        case (.file, .file): other.path.hasPrefix(folderPath)
        case (_, .file): false
        }
    }

    /// The path up to and including its last slash.
    var folderPath: String {
        String(path[...(path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)])
    }
}
