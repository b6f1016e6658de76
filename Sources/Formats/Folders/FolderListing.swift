import Model

/// The photos in one piece of the list of a folder on a server, as entries of a gallery.
///
/// An entry's id is the decoded path below the gallery's root, so every format has the same ids for the same files.
public struct FolderListing: WrittenEntries, Sendable {
    /// The beginning of the ids of all photos in the folder: empty, or a path with a slash at its end.
    public let folder: String
    /// The ids of photos whose addresses are too long.
    public private(set) var skipped: [String] = []
    private let files: [ListedFile]
    private let digests: [Int64]
    /// The address of the folder, with a slash at its end.
    private let beginning: String

    /// Creates the entries of a piece.
    ///
    /// - Parameters:
    ///   - path: the decoded path of the folder below the gallery's root, with a slash at its end; empty for the root.
    ///   - address: the address of the folder.
    public init(_ files: [ListedFile], in path: [UInt8], at address: ListedFolder, _ digest: EntryDigest) {
        self.files = files.filter { PictureName.isPicture($0.name[...]) }
        folder = PathText.text(path)
        beginning = address.address.text
        var bytes: [UInt8] = []
        digests = self.files.map { file in
            bytes.removeAll(keepingCapacity: true)
            bytes += path
            bytes += file.name
            bytes.append(0)
            for text in [file.revision, file.photo?.text ?? "", file.thumbnail?.text ?? ""] {
                bytes += text.utf8
                bytes.append(0)
            }
            withUnsafeBytes(of: (file.date?.milliseconds ?? .min).littleEndian) { bytes.append(contentsOf: $0) }
            bytes.append(file.isDateTaken ? 1 : 0)
            return bytes.withUnsafeBytes { digest.digest($0) }
        }
    }

    /// The number of photos.
    public var count: Int { files.count }

    /// Returns the digest of all facts in the list about a photo.
    public func digest(at index: Int) -> Int64? { digests[index] }

    /// Writes an entry. Returns false for a photo whose address is too long.
    public mutating func read(_ index: Int, into entry: inout EntryBytes) -> Bool {
        let file = files[index]
        let name = PathText.text(file.name)
        let address = file.photo?.text ?? beginning + PercentEncoding.encode(file.name, keepingEscapes: false)
        guard address.utf8.count <= Address.maximumLength else {
            skipped.append(folder + name)
            return false
        }
        let origin: DateOrigin = file.date == nil ? .unknown : file.isDateTaken ? .taken : .modified
        entry.begin(date: file.date ?? .unknown, origin, digest: digests[index])
        entry.append(folder.utf8)
        entry.append(name.utf8)
        entry.end(.id)
        entry.append((file.shownName.map { PathText.text($0) } ?? name).utf8)
        entry.end(.name)
        entry.append(address.utf8)
        entry.end(.photo)
        entry.append((file.thumbnail?.text ?? "").utf8)
        entry.end(.thumbnail)
        // A revision shows the cache that the id is a path. Some servers tell nothing about their files.
        entry.append((file.revision.isEmpty ? "-" : file.revision).utf8)
        entry.end(.revision)
        return true
    }
}
