import Cache
import Logging
import Model
import Settings

/// The lists of one gallery: all photos, search matches and a folder.
///
/// Sorting and searching run off the main actor; the current lists stay until the new ones are complete. A new search
/// or sort cancels the previous one.
@MainActor
final class PhotoLists {
    /// The purpose of a search.
    enum Purpose {
        /// The user goes from match to match in the full list.
        case finding
        /// The user sees only the matches.
        case filtering
    }

    /// A folder and its contents.
    struct Folder {
        let path: FolderPath
        /// The folders directly in the folder.
        fileprivate(set) var subfolders: [Subfolder]
        /// The photos in the folder itself.
        let photos: FetchedResults
    }

    /// The cache of the gallery.
    let cache: GalleryCache
    /// Reads single entries of the gallery on the main actor. The photo screen uses this reader, too.
    let reader: CacheReader
    /// All photos of the gallery in the current order.
    private(set) var all: FetchedResults
    /// The matches of the last complete search, if any.
    private(set) var found: FetchedResults?
    /// The filter that the user requested, even if the search is not complete.
    private(set) var filter = PhotoFilter.all
    /// The purpose of the search: to find matches or to hide other photos.
    private(set) var purpose = Purpose.finding
    /// Whether the list on the screen contains only the matches.
    private(set) var isFiltered = false
    /// The folder on the screen; nil if the list has the photos of all folders.
    private(set) var folder: Folder?
    /// The path of the folder to show, even if the folder has not been read.
    private(set) var path: FolderPath?
    private let folderReading = FolderReading()
    /// The changes since the last reading of the subfolders began.
    private var folderChanges = SubfolderChanges()
    /// The requested order of the photos, even if sorting is not complete.
    private(set) var order: PhotoOrder
    /// The requested division into sections, even if sorting is not complete.
    private(set) var sections: SectionRule
    /// Whether the user chose the order of this gallery, in this run or an earlier run.
    private(set) var isOrderChosen: Bool
    /// Whether the user chose the sections of this gallery, in this run or an earlier run.
    private(set) var areSectionsChosen: Bool
    /// The reason why the last search or sort failed, if it did.
    private(set) var failure: String?
    /// The id of a photo to open as soon as it arrives.
    private var awaited: String?
    /// Whether the gallery's screen still waits for the order, sections or folder of its position.
    private var isOpening = false
    private var task: Task<Void, Never>?
    private let log: Log
    private let feed: UpdateFeed
    private var subscriptions: [ObjectIdentifier: UpdateFeed.Subscription] = [:]

    /// Creates the lists with the order, sections and folder of a position, or else those of the settings.
    init(_ cache: GalleryCache, at place: Place, _ context: ScreenContext) throws {
        let order = place.order ?? context.settings.order
        (self.cache, self.order, log, feed) = (cache, order, context.log, context.feed)
        (isOrderChosen, areSectionsChosen) = (place.order != nil, place.sections != nil)
        reader = try cache.openReader()
        let sections = place.sections ?? Self.usualSections(context.settings.sections, reader)
        self.sections = sections
        // `arrange()` makes the sections by folder later, and sorts a long list without an index. Reading all rows of a
        // long list would delay the first frame.
        let isFast = try FetchedResults.loadsFast(order, reader, cache)
        all = try FetchedResults(
            of: cache, order: isFast ? order : PhotoOrder(),
            sections: !isFast || sections == .folder ? .none : sections)
        if place.folder != nil, (try? reader.hasFolders()) == true { path = place.folder }
        isOpening = path != nil || sections == .folder || !isFast
        // The arrangement comes first, because it need not wait for all rows of the list that it replaces.
        if isOpening { arrange() }
        follow()
    }

    /// Notes that the opened gallery got its order, sections and folder.
    func endOpening() { isOpening = false }

    /// Returns the sections for a setting. If the setting divides by folder, a gallery without folders gets the default
    /// sections. An empty gallery does not, because it may still receive folders.
    private static func usualSections(_ setting: Settings.Sections, _ reader: CacheReader) -> SectionRule {
        guard setting == .folder else { return setting.rule }
        let canHaveFolders = (try? reader.hasFolders() || reader.gallery().photoCount == 0) == true
        return canHaveFolders ? .folder : Settings.Sections.auto.rule
    }

    /// Returns whether the lists have the sections that the settings demand.
    func hasSections(asIn settings: Settings) -> Bool {
        settings.sections != .auto && sections == settings.sections.rule
    }

    /// The list on the screen. When another list replaces it, screens receive ``ModelUpdate/lists(_:)``.
    var shown: FetchedResults { isFiltered ? found ?? all : folder?.photos ?? all }

    /// The rows on the screen.
    var entries: PhotoEntries {
        PhotoEntries(folders: isFiltered ? [] : folder?.subfolders ?? [], photos: shown)
    }

    /// Returns the index of the row whose folder contains a photo. Returns nil without such a row.
    func indexOfFolder(containing key: PhotoKey?) -> Int? {
        let entries = entries
        guard !entries.folders.isEmpty, let photo = key.flatMap({ try? reader.photo($0) }) else { return nil }
        return entries.indexOfFolder(containing: photo.galleryID)
    }

    /// Returns whether an update removed a photo, or a folder from the present folder.
    func isGone(_ entry: PhotoEntries.Entry) -> Bool {
        switch entry {
        case .photo(let key): return all.isComplete && all.index(of: key) == nil
        case .folder(let path):
            guard let folder, path.parent == folder.path else { return false }
            return !folder.subfolders.contains { $0.path == path }
        }
    }

    /// Whether the search for the current text is incomplete.
    var isSearching: Bool { filter.text != found?.filter.text ?? "" }

    /// Whether a search shows only the matches. A search in a folder always hides the other photos, because most
    /// matches may be in folders below.
    var searchHidesOthers: Bool { purpose == .filtering || path != nil }

    /// Returns the selected photo of a position. If the position has an open photo that the cache lacks, as in a new
    /// gallery, the screen opens the photo as soon as it arrives.
    func find(_ place: Place) throws -> PhotoKey? {
        guard let galleryID = place.photo else { return nil }
        let photo = try reader.photo(galleryID: galleryID)
        if photo == nil, place.isPhotoOpen { awaited = galleryID }
        return photo?.key
    }

    /// Returns the id of the awaited photo if the photo has arrived. Later calls return nil.
    func takeArrived() -> String? {
        guard let galleryID = awaited, let photo = try? reader.photo(galleryID: galleryID),
            shown.index(of: photo.key) != nil
        else { return nil }
        awaited = nil
        return galleryID
    }

    /// Stops waiting for a photo, since the user has done something else.
    func stopAwaiting() { awaited = nil }

    /// Starts a search. An empty text shows all photos again.
    func search(_ text: String, for purpose: Purpose) {
        let filter = PhotoFilter(text)
        guard filter != self.filter || purpose != self.purpose else { return }
        self.filter = filter
        self.purpose = purpose
        arrange()
    }

    /// Shows a folder, or the photos of all folders, and ends the search.
    func show(_ path: FolderPath?) {
        (self.path, filter, purpose) = (path, .all, .finding)
        arrange()
    }

    /// Reads the subfolders again after a list's change.
    ///
    /// If no photo came or went, this method reads only the changed photos.
    func follow(_ difference: Difference, of results: FetchedResults) {
        guard let folder else { return }
        if results === all {
            folderChanges.add(difference, of: all)
        } else if results === folder.photos, results.count == 0 {
            folderChanges.addOthers()
        } else {
            return
        }
        folderReading.read { [weak self, all] in
            guard let (known, changes) = self?.takeFolderChanges(of: folder) else { return }
            if let subfolders = try? await all.subfolders(of: folder.path, after: changes, of: known) {
                self?.adopt(subfolders, of: folder)
            } else {
                // The next change reads all subfolders.
                self?.folderChanges.addOthers()
            }
        }
    }

    /// Returns the subfolders of a folder, and their changes. Returns nil if the folder is no longer on the screen.
    private func takeFolderChanges(of folder: Folder) -> (known: [Subfolder], changes: SubfolderChanges)? {
        guard let current = self.folder, current.photos === folder.photos else { return nil }
        defer { folderChanges = SubfolderChanges() }
        return (current.subfolders, folderChanges)
    }

    private func adopt(_ subfolders: [Subfolder], of folder: Folder) {
        guard let current = self.folder, current.photos === folder.photos, path == folder.path else { return }
        // Leave a folder whose photos are gone.
        if subfolders.isEmpty, current.photos.count == 0, let parent = folder.path.parent { return show(parent) }
        guard subfolders != current.subfolders else { return }
        self.folder?.subfolders = subfolders
        feed.deliver(.lists(self))
    }

    /// Sorts all lists in the order that the user chose.
    func sort(by order: PhotoOrder) {
        isOrderChosen = true
        arrange(order, sections)
    }

    /// Divides all lists into the sections that the user chose.
    func divide(by sections: SectionRule) {
        areSectionsChosen = true
        arrange(order, sections)
    }

    private func arrange(_ order: PhotoOrder, _ sections: SectionRule) {
        guard order != self.order || sections != self.sections || failure != nil else { return }
        (self.order, self.sections) = (order, sections)
        arrange()
    }

    /// Cancels a running search or sort, and ends all updates of the lists.
    func close() {
        task?.cancel()
        subscriptions = [:]
    }

    private func arrange() {
        task?.cancel()
        failure = nil
        let sections = sections.applied(to: order)
        guard filter != .all || path != nil || all.order != order || all.sectionRule != sections else {
            return adopt(all, nil, nil)
        }
        task = Task { [all, order, filter, path, folder, log] in
            do {
                let isArranged = all.order == order && all.sectionRule == sections
                let arranged = isArranged ? all : try await all.arranged(order, sections: sections)
                guard !Task.isCancelled else { return }
                let contents =
                    isArranged && folder?.path == path
                    ? folder : try await Self.folder(path, of: arranged, keeping: folder?.subfolders ?? [])
                let matching = PhotoFilter(filter.text, in: contents.map { .whole($0.path) })
                let found =
                    filter == .all ? nil : try await arranged.arranged(order, filter: matching, sections: sections)
                if !Task.isCancelled { self.adopt(arranged, found, contents) }
            } catch is CancellationError {
            } catch {
                guard !Task.isCancelled else { return }
                log.error(.cache, "\(error)")
                self.giveUp(error)
            }
        }
    }

    /// Returns a folder with its contents. If the folder is gone, returns the nearest folder above that has photos.
    ///
    /// - Parameter known: the subfolders on the screen, whose covers stay.
    private static func folder(
        _ path: FolderPath?, of all: FetchedResults, keeping known: [Subfolder]
    ) async throws -> Folder? {
        guard var path else { return nil }
        while true {
            let photos = try await all.arranged(
                all.order, filter: PhotoFilter(in: .own(path)), sections: all.sectionRule)
            let subfolders = try await all.subfolders(of: path, keeping: known)
            guard photos.count == 0, subfolders.isEmpty, let parent = path.parent else {
                return Folder(path: path, subfolders: subfolders, photos: photos)
            }
            path = parent
        }
    }

    /// Keeps the current lists after a failure, and returns to their search, sort order, sections and folder.
    ///
    /// The lists of an opening gallery lack the order, sections and folder of its position. These stay requested, for
    /// the next attempt and the next run.
    private func giveUp(_ error: any Error) {
        filter = PhotoFilter(found?.filter.text ?? "")
        if !isOpening {
            (order, path) = (all.order, folder?.path)
            if sections.applied(to: order) != all.sectionRule { sections = all.sectionRule }
        }
        failure = "\(error)"
        feed.deliver(.lists(self))
    }

    private func adopt(_ all: FetchedResults, _ found: FetchedResults?, _ folder: Folder?) {
        // The subfolders of a folder that stays may have changed during the search.
        let folder = folder?.photos === self.folder?.photos ? self.folder : folder
        if all !== self.all || found !== self.found || folder?.photos !== self.folder?.photos {
            (self.all, self.found, self.folder, path) = (all, found, folder, folder?.path)
            isFiltered = found != nil && searchHidesOthers
            follow()
        }
        // A screen may wait for lists that turn out to be the present ones.
        feed.deliver(.lists(self))
    }

    /// Subscribes to the changes of new lists. Existing subscriptions continue, because a gap would lose changes.
    private func follow() {
        let lists = [all, found, folder?.photos].compactMap { $0 }
        let kept = Set(lists.map { ObjectIdentifier($0) })
        subscriptions = subscriptions.filter { kept.contains($0.key) }
        for list in lists where subscriptions[ObjectIdentifier(list)] == nil {
            subscriptions[ObjectIdentifier(list)] = feed.follow(list.differences) { .results(list, $0) }
        }
    }

    /// Returns the match after or before a photo. After the last match comes the first.
    ///
    /// - Parameter including: whether the photo itself may be returned.
    func match(after key: PhotoKey?, backwards: Bool = false, including: Bool = false) -> PhotoKey? {
        guard let found, found.count > 0 else { return nil }
        guard let key else { return found.key(at: 0) }
        let index = found.insertionIndex(of: key)
        let isMatch = found.key(at: index) == key
        if isMatch, including { return key }
        let next = backwards ? index - 1 : index + (isMatch ? 1 : 0)
        return found.key(at: (next + found.count) % found.count)
    }
}

/// Reads folders again after changes, one reading at a time. Changes during a reading lead to one more reading.
@MainActor
private final class FolderReading {
    private var isRunning = false
    private var next: (@MainActor () async -> Void)?

    func read(_ body: @escaping @MainActor () async -> Void) {
        next = body
        guard !isRunning else { return }
        isRunning = true
        Task {
            while let body = next {
                next = nil
                await body()
            }
            isRunning = false
        }
    }
}

extension Difference {
    /// Whether the change may have removed photos from the list.
    var mayRemovePhotos: Bool {
        switch self {
        case .reset: true
        case .rows(let rows): !rows.deleted.isEmpty
        }
    }

    /// Returns the new index of the row that followed a deleted row.
    ///
    /// If no later row is left, returns the old index.
    ///
    /// - Parameters:
    ///   - row: the index of the deleted row in the old list.
    ///   - count: the length of the new list.
    func indexFollowing(_ row: Int, count: Int) -> Int {
        guard case .rows(let rows) = self else { return row }
        let removedBefore = (rows.deleted + rows.moved.map(\.from)).filter { $0 < row }.count
        // Start with the index among the rows that stayed. Each row inserted at or before the index moves the row down.
        var index = row - removedBefore
        for new in (rows.inserted + rows.moved.map(\.to)).sorted() where new <= index { index += 1 }
        return index < count ? index : row
    }
}

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

    /// Returns the photo at an index. For a folder, returns the folder's newest photo.
    func picture(at index: Int) -> PhotoKey? { folder(at: index)?.cover ?? photos.key(at: index - folders.count) }

    /// Returns the index of a row. Returns nil if the row is not listed.
    func index(of entry: Entry) -> Int? {
        switch entry {
        case .photo(let key): photos.index(of: key).map { folders.count + $0 }
        case .folder(let path): folders.firstIndex { $0.path == path }
        }
    }

    /// Returns the index of the listed folder that contains the photo with this id.
    func indexOfFolder(containing id: String) -> Int? { folders.firstIndex { $0.path.contains(photo: id) } }

    /// Returns a row's index among the photos. For a folder, returns 0, the index of the first photo.
    func photoIndex(_ index: Int) -> Int { max(0, index - folders.count) }

    /// Returns the rows of the section around a row. The folders are a section of their own, even in a list without
    /// sections.
    func section(at index: Int) -> Range<Int>? {
        if folder(at: index) != nil { return 0..<folders.count }
        guard let section = photos.section(at: index - folders.count)?.range else {
            return folders.isEmpty || index < 0 || index >= count ? nil : folders.count..<count
        }
        return section.lowerBound + folders.count..<section.upperBound + folders.count
    }
}
