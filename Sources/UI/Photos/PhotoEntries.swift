import Cache
import Model

/// The rows of the photos screen: first subfolders, then photos.
@MainActor
struct PhotoEntries {
    /// The folder or photo in a row, independent of the row's index.
    enum Entry: Equatable {
        case photo(PhotoKey)
        case folder(FolderPath)

        /// The photo; nil for a folder.
        var photo: PhotoKey? { if case .photo(let key) = self { key } else { nil } }
    }

    /// The folders, which come first.
    let folders: [Subfolder]
    /// The photos.
    let photos: FetchedResults

    /// The number of rows.
    var count: Int { folders.count + photos.count }

    /// Returns the row at an index. Returns nil if the row is not loaded.
    subscript(index: Int) -> Entry? {
        if let folder = folder(at: index) { return .folder(folder.path) }
        return photos.key(at: index - folders.count).map { .photo($0) }
    }

    /// Returns the folder at an index. Returns nil if a photo is there.
    func folder(at index: Int) -> Subfolder? { folders.indices.contains(index) ? folders[index] : nil }

    /// Returns the photo at an index. For a folder, returns the photo that stands for the folder.
    func picture(at index: Int) -> PhotoKey? { folder(at: index)?.cover ?? photos.key(at: index - folders.count) }

    /// Returns the index of a row. Returns nil if the row is not listed.
    func index(of entry: Entry) -> Int? {
        switch entry {
        case .photo(let key): photos.index(of: key).map { folders.count + $0 }
        case .folder(let path): folders.firstIndex { $0.path == path }
        }
    }

    /// Returns the index of the folder that contains a photo with this id.
    func indexOfFolder(containing id: String) -> Int? { folders.firstIndex { $0.path.contains(photo: id) } }

    /// Returns a row's index among the photos. For a folder, this is the index of the first photo.
    func photoIndex(_ index: Int) -> Int { max(0, index - folders.count) }

    /// Returns the rows of a section. The folders are a section of their own, even in a list without sections.
    func section(at index: Int) -> Range<Int>? {
        if folder(at: index) != nil { return 0..<folders.count }
        guard let section = photos.section(at: index - folders.count)?.range else {
            return folders.isEmpty || index < 0 || index >= count ? nil : folders.count..<count
        }
        return section.lowerBound + folders.count..<section.upperBound + folders.count
    }
}
