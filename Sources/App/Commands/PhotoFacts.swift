import Model

/// What there is to say of a photo outside of the screen.
struct PhotoFacts {
    let photo: Photo

    init(_ photo: Photo) {
        self.photo = photo
    }

    /// What is here of it, in words: `photo`, `thumbnail`, `nothing`; and what went wrong, behind a colon.
    var state: String {
        let held = photo.original.held != nil ? "photo" : photo.thumbnail.held != nil ? "thumbnail" : "nothing"
        return [held, trouble].compactMap { $0 }.joined(separator: ": ")
    }

    private var trouble: String? {
        for state in [photo.original, photo.thumbnail] {
            switch state.trouble {
            case .bad(let failure), .putOff(let failure): return failure.reason
            case nil: continue
            }
        }
        return nil
    }

    var json: JSONText {
        .object([
            ("id", .string(photo.galleryID)), ("date", .string(photo.date.iso8601)), ("name", .string(photo.name)),
            ("thumbnail", .flag(photo.thumbnail.held != nil)), ("photo", .flag(photo.original.held != nil)),
            ("trouble", .string(trouble)),
        ])
    }
}
