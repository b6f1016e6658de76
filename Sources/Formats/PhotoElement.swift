import Model

/// One `photo` element while it is being read, and the rules that it has to keep.
struct PhotoElement {
    let line: Int
    private let id: String
    private let name: String
    private let date: String
    private var photo: Address?
    private var thumbnail: Address?
    /// Why the last `image` of kind `image` was refused.
    private var photoProblem: String?
    private(set) var remarks: [GalleryBatch.Skipped] = []

    init(_ attributes: Attributes, line: Int) {
        self.line = line
        id = attributes["id"] ?? ""
        name = attributes["name"] ?? ""
        date = attributes["date"] ?? ""
    }

    /// Takes an `image` element inside of this one. Of a repeated kind the last counts.
    mutating func add(image attributes: Attributes, line: Int, base: Address) {
        let kind = attributes["kind"]
        guard kind == "image" || kind == "thumbnail" else { return }
        do throws(AddressError) {
            guard let reference = attributes["srcURL"], !reference.isEmpty else {
                return refuse(kind, "no srcURL", line)
            }
            let address = try base.resolving(reference)
            guard base.mayName(address) else {
                return refuse(kind, "\(address) is outside of what this gallery may name", line)
            }
            if kind == "image" { photo = address } else { thumbnail = address }
        } catch {
            refuse(kind, error.description, line)
        }
    }

    private mutating func refuse(_ kind: String?, _ reason: String, _ line: Int) {
        if kind == "image" {
            photoProblem = reason
        } else {
            remarks.append(GalleryBatch.Skipped(line: line, reason: "thumbnail left out: \(reason)"))
        }
    }

    /// The photo that the element describes, or the rule that it breaks.
    func entry() -> Result<GalleryEntry, Refusal> {
        guard !id.isEmpty else { return .failure(Refusal(reason: "no id")) }
        guard !name.isEmpty else { return .failure(Refusal(reason: "no name")) }
        guard !date.isEmpty else { return .failure(Refusal(reason: "no date")) }
        guard let moment = Timestamp(iso8601: date) else {
            return .failure(Refusal(reason: "“\(date)” is no date of the form 2006-07-30T07:47:17Z"))
        }
        guard let photo else { return .failure(Refusal(reason: photoProblem ?? "no image of kind “image”")) }
        return .success(GalleryEntry(id: id, name: name, date: moment, photo: photo, thumbnail: thumbnail))
    }

    struct Refusal: Error {
        let reason: String
    }
}
