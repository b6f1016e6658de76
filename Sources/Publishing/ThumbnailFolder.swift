import Glibc

/// The gallery's thumbnail folder. The user's own files in it are never replaced or removed.
final class ThumbnailFolder: Sendable {
    /// The folder, which the list writer also uses.
    let folder: OpenFolder

    init(_ folder: OpenFolder) {
        self.folder = folder
    }

    /// Removes unfinished files of killed runs.
    func removeUnfinished() throws(PublishingError) {
        for entry in try folder.entries() {
            if let name = entry.name, name.hasPrefix(NewFile.prefix) { folder.remove(name) }
        }
    }

    /// Returns whether a thumbnail exists with its original size.
    func holds(_ photo: PublishedPhoto) -> Bool {
        folder.size(photo.thumbnail.text) == photo.thumbnailSize
    }

    /// Removes a thumbnail unless another file has its name.
    func remove(_ photo: PublishedPhoto) {
        if holds(photo) { folder.remove(photo.thumbnail.text) }
    }

    /// Stores a thumbnail. Several threads may call it.
    ///
    /// The file is not synced here, which would take longer than making it. All thumbnails are synced together before
    /// the list names them, and a thumbnail with a wrong size is made again.
    ///
    /// - Parameter slot: a number not in use by another thread.
    func put(
        _ bytes: [UInt8], of reference: String, _ stamp: FileStamp, slot: Int
    ) throws(PublishingError) -> ThumbnailName {
        var number = 0
        while true {
            let name = ThumbnailName(of: reference, stamp, number: number)
            switch occupant(of: name.text, bytes) {
            case .same: return name
            case .other: number += 1
            case .none:
                let file = try NewFile(in: folder, for: "\(slot)")
                try file.write(bytes)
                try file.take(name.text, mode: folder.fileMode, syncing: false)
                return name
            }
        }
    }

    private enum Occupant {
        case none, same, other
    }

    /// Checks for an existing file. The same thumbnail exists if a run was killed before recording it or if the record
    /// was lost. An empty file can result from a system crash.
    private func occupant(of name: String, _ bytes: [UInt8]) -> Occupant {
        guard let status = folder.status(name) else { return .none }
        guard let size = folder.size(name), let file = folder.file(name) else { return .other }
        defer { close(file) }
        if size == 0, status.st_nlink == 1 { return .none }
        guard size == bytes.count else { return .other }
        return file.holds(bytes, at: 0) ? .same : .other
    }
}

/// The name of a thumbnail's file, `0f3a….jpg`, made from the photo's path and version.
///
/// A changed photo gets a thumbnail with a new name, so the old list remains valid until it is replaced, and clients
/// need not check a thumbnail's date. If two photos have the same digest, the second one gets a number.
struct ThumbnailName: Hashable, Sendable {
    /// The file name.
    let text: String

    init(of reference: String, _ stamp: FileStamp, number: Int = 0) {
        let words = "\(reference)\n\(stamp.size)\n\(stamp.seconds).\(stamp.nanoseconds)".utf8
        let digits = Digest.text(Digest.of(words, seed: 1)) + Digest.text(Digest.of(words, seed: 2))
        text = number == 0 ? digits + Self.ending : "\(digits)-\(number)\(Self.ending)"
    }

    /// Accepts a name from the record if it has the right form.
    init?(written text: String) {
        let digits = text.utf8.prefix(32)
        let rest = text.utf8.dropFirst(32).dropLast(Self.ending.utf8.count)
        guard text.hasSuffix(Self.ending), digits.count == 32,
            digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }),
            rest.isEmpty
                || rest.first == UInt8(ascii: "-") && rest.dropFirst().allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        self.text = text
    }

    private static let ending = ".jpg"
}
