import Cache
import Model
import Settings

/// How this gallery is looked at, for the next time.
extension PhotosScreen {
    /// What is kept of it: the photo that is selected, and what is not as the settings have it.
    var place: Place {
        var place = Place(gallery: cache.address, photo: selectedGalleryID)
        if view == .sheet { place.view = .sheet }
        if lists.order != context.settings.order { place.order = lists.order }
        let isAsSet = context.settings.sections != .auto && lists.sections == context.settings.sections.rule
        if isDivisionChosen, !isAsSet { place.sections = lists.sections }
        if lists.purpose == .filtering, lists.filter != .all { place.filter = lists.filter.text }
        return place
    }

    /// Whatever changes in ``place``, as far as it can be told without asking the cache.
    struct PlaceMark: Equatable {
        let gallery: GalleryID
        let selection: PhotoKey?
        let view: View
        let order: PhotoOrder
        let sections: SectionRule
        let isDivisionChosen: Bool
        let filter: PhotoFilter
        let isFiltering: Bool
    }

    var placeMark: PlaceMark {
        PlaceMark(
            gallery: cache.id, selection: selection, view: view, order: lists.order, sections: lists.sections,
            isDivisionChosen: isDivisionChosen, filter: lists.filter, isFiltering: lists.purpose == .filtering)
    }
}
