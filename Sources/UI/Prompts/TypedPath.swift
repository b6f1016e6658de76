import Model

/// A folder as a person types it.
enum TypedPath {
    /// Its absolute path: `~` is home, and what does not begin at the root is relative to the folder that the program was
    /// started in. Nil where nothing was typed, or something that is in no name.
    static func absolute(_ text: String, home: String, currentFolder: String) -> String? {
        let trimmed = text.drop { $0 == " " }
        guard !trimmed.isEmpty, trimmed.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            return nil
        }
        if trimmed == "~" || trimmed.hasPrefix("~/") { return Address(filePath: home + trimmed.dropFirst()).filePath }
        return Address(filePath: trimmed.hasPrefix("/") ? String(trimmed) : "\(currentFolder)/\(trimmed)").filePath
    }
}
