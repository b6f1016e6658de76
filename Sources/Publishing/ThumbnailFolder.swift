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
