import Cache
import Model
import Text

/// Texts about the updates of a gallery, for status lines.
enum StatusText {
    /// A status text in two parts: the state, and the time of the last successful update.
    struct Parts {
        var state: String
        var success: String?

        var text: String { success.map { "\(state) · \($0)" } ?? state }
    }

    /// The text for an empty list of galleries.
    static let noGallery = "No gallery"

    /// Returns the state of a gallery's updates and the time of the last update.
    ///
    /// - Parameters:
    ///   - now: the current time. If the next attempt is today, the text omits its date.
    ///   - hasReason: whether to include the reason of a failure.
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
            return Parts(state: "Retry at \(time)" + reason(failure, " · "), success: success)
        // Without a network the server is not to blame.
        case .updating(.waiting(let failure, nil)):
            let failed = "Update failed" + reason(failure, ": ")
            return Parts(state: failure.remedy == .network ? "Waiting for the network" : failed, success: success)
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

/// The name of a requested photo, thumbnail or list, for the screen.
@MainActor
struct SubjectName {
    /// The name of the photo or gallery, which may contain control characters.
    let name: String
    /// The kind of the subject, such as `photo`, `every thumbnail`, `list` or `albums`.
    let kind: String
    /// The title of the gallery that has the photo, thumbnail or list.
    let gallery: String

    /// Reads the name from the gallery's cache, which stays open during a fetch.
    init(_ subject: Wish.Subject, _ context: ScreenContext) {
        let cache = context.caches.cache(subject.gallery)
        gallery = cache.map { context.title(of: $0.address) } ?? ""
        switch subject {
        case .list: (name, kind) = (gallery, "list")
        case .albums: (name, kind) = (gallery, "albums")
        case .everyPicture(_, let rendition): (name, kind) = (gallery, "every \(Self.kind(rendition))")
        case .picture(_, let key, let rendition):
            let photo = try? cache?.read { try $0.photo(key) }
            (name, kind) = (photo?.name ?? "a removed photo", Self.kind(rendition))
        }
    }

    static func kind(_ rendition: Rendition) -> String {
        switch rendition {
        case .original: "photo"
        case .thumbnail: "thumbnail"
        }
    }
}

/// The title of a gallery to which the user gave no title. The title is the gallery's location, because the gallery's
/// list cannot choose the location.
enum GalleryTitle {
    static func text(_ address: Address) -> String {
        if let path = address.filePath { return path }
        let text = address.description
        let withoutScheme = text.drop { $0 != "/" }.drop { $0 == "/" }
        return withoutScheme.isEmpty ? text : String(withoutScheme)
    }
}
