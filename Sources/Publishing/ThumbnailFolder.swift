import Glibc

/// The gallery's thumbnail folder. Vitrine never replaces or removes the user's own files in this folder.
final class ThumbnailFolder: Sendable {
    /// The open folder, which also contains the publisher's record.
    let folder: OpenFolder

    init(_ folder: OpenFolder) {
        self.folder = folder
    }

    /// Removes the hidden files that killed runs left behind.
    func removeUnfinished() throws(PublishingError) {
        for entry in try folder.entries() {
            if let name = entry.name, name.hasPrefix(NewFile.prefix) { folder.remove(name) }
        }
    }

    /// Returns whether the photo's thumbnail exists and has its original size.
    func holds(_ photo: PublishedPhoto) -> Bool {
        folder.size(photo.thumbnail.text) == photo.thumbnailSize
    }

    /// Removes a photo's thumbnail, unless another file has taken the thumbnail's name.
    func remove(_ photo: PublishedPhoto) {
        if holds(photo) { folder.remove(photo.thumbnail.text) }
    }

    /// Stores a photo's thumbnail. Several threads may call this method.
    ///
    /// The method does not sync the file, which would take longer than making the thumbnail. The publisher syncs all
    /// thumbnails together before the list names them, and makes a thumbnail with a wrong size again.
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

    /// Returns the kind of file that already has the thumbnail's name. The same thumbnail exists if a run was killed
    /// before it recorded the thumbnail, or if the record was lost. A crash of the system can leave an empty file.
    private func occupant(of name: String, _ bytes: [UInt8]) -> Occupant {
        guard let status = folder.status(name) else { return .none }
        guard let size = folder.size(name), let file = folder.file(name) else { return .other }
        defer { close(file) }
        if size == 0, status.st_nlink == 1 { return .none }
        guard size == bytes.count else { return .other }
        return file.holds(bytes, at: 0) ? .same : .other
    }
}

/// The file name of a thumbnail, such as `0f3a….jpg`, made from the photo's path and version.
///
/// A changed photo gets a thumbnail with a new name. So the old list remains valid until it is replaced, and clients
/// need not check a thumbnail's date. If two photos have the same digest, the second name gets a number.
struct ThumbnailName: Hashable, Sendable {
    /// The file name.
    let text: String

    init(of reference: String, _ stamp: FileStamp, number: Int = 0) {
        let words = "\(reference)\n\(stamp.size)\n\(stamp.seconds).\(stamp.nanoseconds)".utf8
        let digits = Digest.text(Digest.of(words, seed: 1)) + Digest.text(Digest.of(words, seed: 2))
        text = number == 0 ? digits + Self.ending : "\(digits)-\(number)\(Self.ending)"
    }

    /// Creates a name from the record's text. Returns nil if the text does not have the form of a thumbnail name.
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
