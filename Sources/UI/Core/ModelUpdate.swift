import Cache
import Session
import Model
import Pictures

/// What changed, on its way from the root down the tree of screens.
enum ModelUpdate {
    /// A list of photos became another.
    case results(FetchedResults, Difference)
    /// What a screen lists is in another order, or something else was found.
    case lists(PhotoLists)
    /// A gallery's own row changed: its last update, its count.
    case gallery(GalleryID)
    /// Something is being done, or is no longer.
    case activity(Activity.Change)
    /// More has come from the network, or it does better or worse. Heard of a few times a second at most.
    case traffic
    /// What is being saved has begun, has come farther, or has ended.
    case exports
    /// Pictures have been drawn.
    case pictures(Set<PictureOrder>)
    /// The log has grown, or was cleared, or a switch was turned.
    case log
}
