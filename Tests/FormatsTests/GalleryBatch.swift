import Model

@testable import Formats

/// Parsed photos with their remarks.
struct GalleryBatch: Equatable {
    var entries: [GalleryEntry] = []
    var skipped: [WrittenPhotos.Remark] = []
    var remarks: [WrittenPhotos.Remark] = []

    init() {}

    init(_ photos: WrittenPhotos) throws {
        var photos = photos
        var entry = EntryBytes()
        for index in 0..<photos.count where photos.read(index, into: &entry) {
            entries.append(
                GalleryEntry(
                    id: entry.text(.id), name: entry.text(.name), date: entry.date,
                    photo: try Address(entry.text(.photo)),
                    thumbnail: entry.hasThumbnail ? try Address(entry.text(.thumbnail)) : nil))
        }
        skipped = photos.skipped
        remarks = photos.remarks
    }
}
