import Model

/// One `photo` element, and the rules that it has to keep.
struct PhotoElement: Sendable {
    let line: Int
    private let id: String
    private let name: String
    private let date: String
    private var photo: Address?
    private var thumbnail: Address?
    /// Why the last `image` of kind `image` was refused.
    private var photoProblem: String?
    private(set) var remarks: [WrittenPhotos.Remark] = []

    /// The longest name and the longest id that are kept, in bytes. A name is sorted, shown and searched with every list.
    static let maximumText = 4_096
    /// The most that is remarked of one photo, which may have any number of images.
    private static let maximumRemarks = 8
    /// As much of a date as a remark shows.
    private static let shownDate = 64

    init(id: String, name whole: String, date: String, line: Int) {
        self.line = line
        self.id = id
        name = whole.cut(toBytes: Self.maximumText)
        self.date = date
        if name.utf8.count < whole.utf8.count {
            remarks.append(.init(line: line, reason: "its name is cut at \(Self.maximumText) bytes"))
        }
    }

    /// Takes an `image` element inside of this one. Of a repeated kind the last counts.
    mutating func add(_ kind: WrittenFields.ImageKind, _ reference: String, line: Int, base: Address) {
        do throws(AddressError) {
            guard !reference.isEmpty else { return refuse(kind, "no srcURL", line) }
            let address = try base.resolving(reference)
            guard base.mayName(address) else {
                return refuse(kind, "\(address) is outside of what this gallery may name", line)
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

    /// The photo that the element describes, or the rule that it breaks.
    func entry() -> Result<GalleryEntry, Refusal> {
        guard !id.isEmpty else { return .failure(Refusal(reason: "no id")) }
        // Half an id would be another photo's.
        guard id.utf8.count <= Self.maximumText else {
            return .failure(Refusal(reason: "its id is longer than \(Self.maximumText) bytes"))
        }
        guard !name.isEmpty else { return .failure(Refusal(reason: "no name")) }
        guard !date.isEmpty else { return .failure(Refusal(reason: "no date")) }
        guard let moment = Timestamp(iso8601: date) else {
            let shown = date.cut(toBytes: Self.shownDate)
            return .failure(Refusal(reason: "“\(shown)” is no date of the form 2006-07-30T07:47:17Z"))
        }
        guard let photo else { return .failure(Refusal(reason: photoProblem ?? "no image of kind “image”")) }
        return .success(GalleryEntry(id: id, name: name, date: moment, photo: photo, thumbnail: thumbnail))
    }

    struct Refusal: Error {
        let reason: String
    }
}

extension String {
    /// As many whole characters from the beginning as fit into so many bytes.
    ///
    /// Where not even the first one fits, as many of its parts: a character may have any number of accents.
    func cut(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        let characters = prefix(of: self, limit) { $0.utf8.count }
        return characters.isEmpty ? String(prefix(of: unicodeScalars, limit) { UTF8.width($0) }) : String(characters)
    }

    private func prefix<Parts: Collection>(
        of parts: Parts, _ limit: Int, size: (Parts.Element) -> Int
    ) -> Parts.SubSequence {
        var rest = limit
        return parts.prefix { part in
            rest -= size(part)
            return rest >= 0
        }
    }
}
