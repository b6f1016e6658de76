/// Where the user is, followed so that it can be kept.
extension RootScreen {
    /// Whatever changes in ``place``, as far as it can be told without asking the cache.
    struct PlaceMark: Equatable {
        let photos: PhotosScreen.PlaceMark?
        let isPhotoOpen: Bool
        let fillsScreen: Bool
    }

    /// Looks whether the user is somewhere else. What moves him is drawn, so it is enough to look with every frame.
    func followPlace() {
        let photos = children.lazy.compactMap { $0 as? PhotosScreen }.last
        let mark = PlaceMark(
            photos: photos?.placeMark, isPhotoOpen: top is PhotoScreen,
            fillsScreen: (top as? PhotoScreen)?.view.zoom == .fill)
        guard mark != placeMark else { return }
        placeMark = mark
        context.places.noteChange(context.wait)
    }
}
