/// The path of a folder within a gallery, such as `2024/Lisbon`. The gallery's own folder has an empty path.
///
/// Only galleries whose photos' ids are paths have folders. Paths are equal if their bytes are equal: a disk may have
/// two folders whose names differ only in the Unicode form of an accent.
public struct FolderPath: Hashable, Sendable {
    /// The path, without a slash at its end.
    public let text: String

    /// Creates a path from its text.
    public init(_ text: String) {
        self.text = text
    }

    /// Creates the path of the folder that contains a photo.
    public init(ofPhoto id: String) {
        let bytes = id.utf8
        text = bytes.lastIndex(of: Self.separator).map { String(id[..<$0]) } ?? ""
    }

    /// The gallery's own folder.
    public static let top = FolderPath("")

    /// Whether this is the gallery's own folder.
    public var isTop: Bool { text.utf8.isEmpty }

    /// The folders' names, from the outermost folder to this folder. Empty for the gallery's own folder.
    public var names: [String] {
        isTop
            ? []
            : text.utf8.split(separator: Self.separator, omittingEmptySubsequences: false).map { String(Substring($0)) }
    }

    /// The folder's own name; empty for the gallery's own folder.
    public var name: String { names.last ?? "" }

    /// The folder that contains this folder; nil for the gallery's own folder.
    public var parent: FolderPath? { isTop ? nil : FolderPath(ofPhoto: text) }

    /// The common beginning of the ids of all photos in this folder and its subfolders.
    public var prefix: String { isTop ? "" : text + "/" }

    /// Whether a photo is in this folder or in a subfolder.
    public func contains(photo id: String) -> Bool { id.utf8.starts(with: prefix.utf8) }

    /// Whether a photo is in this folder itself.
    public func holds(photo id: String) -> Bool { FolderPath(ofPhoto: id) == self }

    /// Returns this folder's direct subfolder that contains a photo. Returns nil if there is no such subfolder.
    public func child(containing id: String) -> FolderPath? {
        guard contains(photo: id) else { return nil }
        let rest = id.utf8.dropFirst(prefix.utf8.count)
        return rest.firstIndex(of: Self.separator).map { FolderPath(String(id[..<$0])) }
    }

    private static let separator = UInt8(ascii: "/")

    /// Compares the bytes of two paths.
    public static func == (left: FolderPath, right: FolderPath) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Hashes the bytes of the path.
    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8(0xFF))
    }
}

/// Selects the photos of one folder for a list.
public enum FolderFilter: Hashable, Sendable {
    /// The photos in the folder itself.
    case own(FolderPath)
    /// The photos in the folder and in all folders below.
    case whole(FolderPath)

    /// Whether the list shows a photo with this id.
    public func contains(photo id: String) -> Bool {
        switch self {
        case .own(let folder): folder.holds(photo: id)
        case .whole(let folder): folder.contains(photo: id)
        }
    }
}
