import Cache
import Model

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
