import Cache
import Model

/// A line of the errors screen: something that failed, or many things of one gallery that failed for the same reason.
struct ErrorRow: Equatable {
    /// What it stays, wherever it comes to stand.
    enum Identity: Hashable {
        /// One thing.
        case subject(Wish.Subject)
        /// Those photos that are not named one by one.
        case rest(GalleryID, Rendition, RenditionState.Trouble)
    }

    let identity: Identity
    let failure: Failure
    /// Whether it will not be tried again by itself.
    let isFinal: Bool
    /// What is known of it beyond that, if it failed in this run.
    var report: FailureReport?
    /// The photo, if it is known from the cache.
    var photo: Photo?
    /// How many things it stands for.
    var count = 1

    var gallery: GalleryID {
        switch identity {
        case .subject(let subject): subject.gallery
        case .rest(let gallery, _, _): gallery
        }
    }

    init(_ report: FailureReport) {
        identity = .subject(report.subject)
        failure = report.failure
        isFinal = report.next == nil && !report.failure.isTemporary
        self.report = report
    }

    /// Why a gallery's last update failed.
    init(_ failure: Failure, of gallery: GalleryID) {
        identity = .subject(.list(gallery))
        self.failure = failure
        isFinal = !failure.isTemporary
    }

    /// A photo of a group.
    init(_ photo: Photo, _ group: TroubleGroup, in gallery: GalleryID) {
        identity = .subject(.picture(gallery, photo.key, group.rendition))
        (failure, isFinal) = Self.meaning(of: group.trouble)
        self.photo = photo
    }

    /// So many more of a group.
    init(_ count: Int, moreOf group: TroubleGroup, in gallery: GalleryID) {
        identity = .rest(gallery, group.rendition, group.trouble)
        (failure, isFinal) = Self.meaning(of: group.trouble)
        self.count = count
    }

    private static func meaning(of trouble: RenditionState.Trouble) -> (failure: Failure, isFinal: Bool) {
        switch trouble {
        case .putOff(let failure): (failure, false)
        case .bad(let failure): (failure, true)
        }
    }
}
