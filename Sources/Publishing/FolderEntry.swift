import Glibc

/// A name in a folder, and what it is of, as far as the folder itself says.
struct FolderEntry {
    enum Kind {
        case folder, file, other
        /// There are file systems that do not say.
        case unknown
    }

    let kind: Kind
    /// The name, if it is UTF-8.
    let name: String?
    /// The name with what is not UTF-8 replaced, to be shown.
    let shownName: String
    /// The name as it is, which names are sorted by.
    let bytes: [UInt8]

    init(_ entry: UnsafeMutablePointer<dirent>) {
        kind =
            switch Int(entry.pointee.d_type) {
            case Int(DT_DIR): .folder
            case Int(DT_REG): .file
            case Int(DT_UNKNOWN): .unknown
            default: .other
            }
        // The name goes as far as its zero, whatever room the declaration gives it.
        let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
        let start = (UnsafeMutableRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self)
        name = String(validatingCString: start)
        shownName = name ?? String(cString: start)
        bytes = Array(UnsafeRawBufferPointer(start: start, count: strlen(start)))
    }

    /// What begins with a dot is hidden.
    var isHidden: Bool { bytes.first == UInt8(ascii: ".") }
}
