import Cache
import Model
import Text

/// What the status line says of a gallery's updates.
enum StatusText {
    /// How things stand, and when an update last succeeded, where that stands beside it.
    struct Parts {
        var state: String
        var success: String?

        var text: String { success.map { "\(state) · \($0)" } ?? state }
    }

    /// What a screen without a gallery says.
    static let noGallery = "No gallery"

    /// All that there is to say.
    ///
    /// - Parameter now: the moment from which the time of the next attempt is told.
    static func text(_ status: SyncStatus, now: Timestamp) -> String { parts(status, now: now).text }

    /// The same in parts, for a place that has less room.
    ///
    /// - Parameter hasReason: whether it says why an update failed; not where the reason stands beside it.
    static func parts(_ status: SyncStatus, now: Timestamp, hasReason: Bool = true) -> Parts {
        let success = status.lastSuccess.map { "Updated: " + DateText.short($0) }
        func reason(_ failure: Failure, _ separator: String) -> String { hasReason ? separator + failure.reason : "" }
        switch status.state {
        case .notUpdated: return Parts(state: "Not updated")
        case .updated: return Parts(state: (success ?? "Updated") + skipped(status))
        case .cancelled: return Parts(state: "Update cancelled", success: success)
        case .failed(let failure): return Parts(state: "Update failed" + reason(failure, ": "), success: success)
        case .updating(.waiting(let failure, let until?)):
            let time = DateText.minute(until, now: now)
            return Parts(state: "Trying again at \(time)" + reason(failure, " · "), success: success)
        // A server that fails is worth naming, a network that is missing is not its fault.
        case .updating(.waiting(let failure, nil)):
            let failed = "Update failed" + reason(failure, ": ")
            return Parts(state: failure.remedy == .network ? "Waiting for network" : failed, success: success)
        case .updating(.getting(let progress, let entries)):
            guard progress.done > 0 else { return Parts(state: "Updating…") }
            let count = entries > 0 ? ", " + CountText.text(entries, "photo") : ""
            return Parts(state: "Updating… " + ByteText.text(progress.done.int64, of: progress.total?.int64) + count)
        case .updating(.parsing(let entries)):
            return Parts(state: "Updating… reading " + CountText.text(entries, "photo"))
        case .updating(.committing): return Parts(state: "Updating… storing")
        }
    }

    private static func skipped(_ status: SyncStatus) -> String {
        status.skipped > 0 ? " · \(status.skipped) skipped" : ""
    }
}

/// What something that is fetched is called on the screen.
@MainActor
struct SubjectName {
    /// The photo's name, or what else it is. As it came.
    let name: String
    /// `photo`, `thumbnail`, `list`.
    let kind: String
    /// What its gallery is called.
    let gallery: String

    /// Asks the cache, which has the gallery open if anything of it is fetched.
    init(_ subject: Wish.Subject, _ context: ScreenContext) {
        let cache = context.caches.cache(subject.gallery)
        gallery = cache.map { context.title(of: $0.address) } ?? ""
        switch subject {
        case .list: (name, kind) = (gallery, "list")
        case .everyPicture(_, let rendition): (name, kind) = (gallery, "every \(Self.kind(rendition))")
        case .picture(_, let key, let rendition):
            let photo = try? cache?.read { try $0.photo(key) }
            (name, kind) = (photo?.name ?? "a photo that is gone", Self.kind(rendition))
        }
    }

    static func kind(_ rendition: Rendition) -> String {
        switch rendition {
        case .original: "photo"
        case .thumbnail: "thumbnail"
        }
    }
}

/// What a gallery is called. Its list has no title of its own, so it is the place where it lies.
enum GalleryTitle {
    static func text(_ address: Address) -> String {
        if let path = address.filePath { return path }
        let text = address.description
        let withoutScheme = text.drop { $0 != "/" }.drop { $0 == "/" }
        return withoutScheme.isEmpty ? text : String(withoutScheme)
    }
}
