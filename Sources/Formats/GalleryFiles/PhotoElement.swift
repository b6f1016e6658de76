import Model

/// One `photo` element, with the rules that it must satisfy.
struct PhotoElement: Sendable {
    let line: Int
    private let id: String
    private let name: String
    private let date: String
    private let annotations: PhotoAnnotations
    private var photo: Address?
    private var thumbnail: Address?
    /// The reason why the last `image` element of the kind `image` was rejected, if it was.
    private var photoProblem: String?
    private(set) var remarks: [WrittenPhotos.Remark] = []

    /// The most bytes of a name or an id. Lists sort, show and search names.
    static let maximumText = 4_096
    /// The most remarks per photo. A photo may have any number of images.
    private static let maximumRemarks = 8
    /// The most bytes of a date in a remark.
    private static let shownDate = 64

    init(id: String, name whole: String, date: String, annotations: PhotoAnnotations? = nil, line: Int) {
        self.line = line
        self.id = id
        name = whole.cut(toBytes: Self.maximumText)
        self.date = date
        self.annotations = annotations ?? PhotoAnnotations()
        if name.utf8.count < whole.utf8.count {
            remarks.append(.init(line: line, reason: "its name was cut to \(Self.maximumText) bytes"))
        }
    }

    /// Adds an `image` element to this photo. The element replaces an earlier element of the same kind.
    mutating func add(_ kind: WrittenFields.ImageKind, _ reference: String, line: Int, base: Address) {
        do throws(AddressError) {
            guard !reference.isEmpty else { return refuse(kind, "no srcURL", line) }
            let address = try base.resolving(reference)
            guard base.mayName(address) else {
                return refuse(kind, "this gallery may not refer to \(address)", line)
            }
            if kind == .image { photo = address } else { thumbnail = address }
        } catch {
            refuse(kind, error.description, line)
        }
    }

    private mutating func refuse(_ kind: WrittenFields.ImageKind, _ reason: String, _ line: Int) {
        if kind == .image {
            photoProblem = reason
        } else if remarks.count < Self.maximumRemarks {
            remarks.append(.init(line: line, reason: "thumbnail left out: \(reason)"))
        }
    }

    /// Returns the photo, or the rule that it breaks.
    func entry() -> Result<GalleryEntry, Refusal> {
        guard !id.isEmpty else { return .failure(Refusal(reason: "no id")) }
        // A cut id could equal that of another photo.
        guard id.utf8.count <= Self.maximumText else {
            return .failure(Refusal(reason: "its id is longer than \(Self.maximumText) bytes"))
        }
        guard !name.isEmpty else { return .failure(Refusal(reason: "no name")) }
        guard !date.isEmpty else { return .failure(Refusal(reason: "no date")) }
        guard let moment = Timestamp(iso8601: date) else {
            let shown = date.cut(toBytes: Self.shownDate)
            return .failure(Refusal(reason: "“\(shown)” is not a date like 2006-07-30T07:47:17Z"))
        }
        guard let photo else { return .failure(Refusal(reason: photoProblem ?? "no image of kind “image”")) }
        return .success(
            GalleryEntry(
                id: id, name: name, date: moment, photo: photo, thumbnail: thumbnail, annotations: annotations))
    }

    struct Refusal: Error {
        let reason: String
    }
}
