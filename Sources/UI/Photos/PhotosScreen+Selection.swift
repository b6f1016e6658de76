import Cache
import Model

/// Which photo is selected, as others know it: the place that is kept, and the screen of one photo.
extension PhotosScreen {
    /// The id by which the gallery knows the selected photo.
    var selectedGalleryID: String? {
        selection.flatMap { try? reader.photo($0) }?.galleryID
    }

    /// Selects the photo that the gallery calls by an id. Returns whether it is in the list that is shown.
    func select(galleryID: String) -> Bool {
        guard let photo = try? reader.photo(galleryID: galleryID), results.index(of: photo.key) != nil else {
            return false
        }
        photoScreenDidShow(photo.key)
        return true
    }

    /// The photo screen shows another photo now; this list follows.
    func photoScreenDidShow(_ key: PhotoKey) {
        guard let index = results.index(of: key) else { return }
        scroll.select(index)
        selection = key
    }

    /// Looks at a photo.
    ///
    /// - Parameter fills: whether it fills the screen at first, and is not shown whole.
    func openSelection(fills: Bool = false) {
        // Of a list that is still being read, the place may not be known yet.
        guard let selection, results.index(of: selection) != nil || !results.isComplete else { return }
        let screen = PhotoScreen(context, results: results, key: selection, delegate: self)
        if fills { screen.view.zoomToFill() }
        send(.push(screen))
    }
}
