import Settings

/// Where the user is, followed so that it can be kept.
extension RootScreen {
    /// Where the user is now.
    public var place: Place {
        guard let photos = openGallery else { return Place() }
        var place = photos.place
        place.isPhotoOpen = openPhoto != nil
        place.fillsScreen = openPhoto?.picture.view.zoom == .fill
        return place
    }

    /// The photo that is looked at, whatever is on top of it.
    private var openPhoto: PhotoScreen? { children.lazy.compactMap { $0 as? PhotoScreen }.first }

    /// Whatever changes in ``place``, as far as it can be told without asking the cache.
    struct PlaceMark: Equatable {
        let photos: PhotosScreen.PlaceMark?
        let isPhotoOpen: Bool
        let fillsScreen: Bool
    }

    /// Looks whether the user is somewhere else. What moves him is drawn, so it is enough to look with every frame.
    func followPlace() {
        let mark = PlaceMark(
            photos: openGallery?.placeMark, isPhotoOpen: openPhoto != nil,
            fillsScreen: openPhoto?.picture.view.zoom == .fill)
        guard mark != placeMark else { return }
        placeMark = mark
        context.places.noteChange(context.wait)
    }
}
