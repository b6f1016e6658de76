import Glibc

/// The folder of thumbnails in a gallery's folder. There may be files of the user's in it: none is ever replaced or removed.
final class ThumbnailFolder: Sendable {
    let folder: OpenFolder

    init(_ folder: OpenFolder) {
        self.folder = folder
    }

    /// Removes what somebody who was killed left in the making.
    func sweep() throws(PublishingError) {
        for entry in try folder.entries() {
            if let name = entry.name, name.hasPrefix(NewFile.prefix) { folder.remove(name) }
        }
    }

    /// Whether a thumbnail is there as it was made.
    func holds(_ photo: PublishedPhoto) -> Bool {
        folder.size(photo.thumbnail.text) == photo.thumbnailSize
    }

    /// Removes a thumbnail, unless something else has its name by now.
    func remove(_ photo: PublishedPhoto) {
        if holds(photo) { folder.remove(photo.thumbnail.text) }
    }

    /// Stores a thumbnail. Called by several threads.
    ///
    /// It is not waited for the disk here: that would cost more than the thumbnail. Before the list names it, all are waited
    /// for together; and who finds one that is not of the size that it was makes it again.
    ///
    /// - Parameter place: a number that no other thread uses at the time.
    func put(
        _ bytes: [UInt8], of reference: String, _ stamp: FileStamp, place: Int
    ) throws(PublishingError) -> ThumbnailName {
        var number = 0
        while true {
            let name = ThumbnailName(of: reference, stamp, number: number)
            switch occupant(of: name.text, bytes) {
            case .same: return name
            case .another: number += 1
            case .nobody:
                let file = try NewFile(in: folder, for: "\(place)")
                try file.write(bytes)
                try file.take(name.text, mode: folder.fileMode, syncing: false)
                return name
            }
        }
    }

    private enum Occupant {
        case nobody, same, another
    }

    /// Who has a name. The same thumbnail is there if somebody was killed before he noted it, or if the record was lost; and
    /// an empty file, if the machine was.
    private func occupant(of name: String, _ bytes: [UInt8]) -> Occupant {
        guard let status = folder.status(name) else { return .nobody }
        guard let size = folder.size(name), let file = folder.file(name) else { return .another }
        defer { close(file) }
        if size == 0, status.st_nlink == 1 { return .nobody }
        guard size == bytes.count else { return .another }
        return file.holds(bytes, at: 0) ? .same : .another
    }
}

/// The name of a thumbnail's file: `0f3a….jpg`, of the photo's place and what its file was then.
///
/// So a photo that changed gets a thumbnail of another name, and the list of before goes on to name the one of before until
/// it is replaced itself; and nobody has to look at the date of a thumbnail to see that it is another one. A name is taken
/// only if nobody has it: of two photos with one digest the second gets a number.
struct ThumbnailName: Hashable, Sendable {
    /// The name.
    let text: String

    init(of reference: String, _ stamp: FileStamp, number: Int = 0) {
        let words = "\(reference)\n\(stamp.size)\n\(stamp.seconds).\(stamp.nanoseconds)".utf8
        let digits = Digest.text(Digest.of(words, seed: 1)) + Digest.text(Digest.of(words, seed: 2))
        text = number == 0 ? digits + Self.ending : "\(digits)-\(number)\(Self.ending)"
    }

    /// Takes a name that was written down, if it is one of ours.
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
