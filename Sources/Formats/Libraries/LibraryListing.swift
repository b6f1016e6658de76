import Model

/// The photos in one piece of a library's list, as gallery entries.
public struct LibraryListing: WrittenEntries, Sendable {
    /// The ids of photos whose addresses are too long.
    public private(set) var skipped: [String] = []
    private let photos: [LibraryPhoto]
    /// The stored forms of the photos' annotations.
    private let annotations: [String]
    private let digests: [Int64]

    /// Creates the entries of a piece.
    public init(_ photos: [LibraryPhoto], _ digest: EntryDigest) {
        self.photos = photos
        let annotations = photos.map(\.annotations.text)
        self.annotations = annotations
        var bytes: [UInt8] = []
        digests = zip(photos, annotations).map { photo, annotations in
            bytes.removeAll(keepingCapacity: true)
            for text in [
                photo.id, photo.name, photo.part, photo.revision, photo.thumbhash, photo.photo.text,
                photo.thumbnail?.text ?? "", annotations,
            ] {
                bytes += text.utf8
                bytes.append(0)
            }
            let (kind, time): (UInt8, Timestamp) =
                switch photo.date {
                case nil: (0, .unknown)
                case .moment(let time): (1, time)
                // The digest ignores this machine's time zone, so that photos do not change when the user travels.
                case .cameraTime(let time): (2, time)
                case .published(let time): (3, time)
                }
            bytes.append(kind)
            if let length = photo.videoMilliseconds {
                withUnsafeBytes(of: Int64(length).littleEndian) { bytes.append(contentsOf: $0) }
            }
            withUnsafeBytes(of: time.milliseconds.littleEndian) { bytes.append(contentsOf: $0) }
            return bytes.withUnsafeBytes { digest.digest($0) }
        }
    }

    /// The number of photos.
    public var count: Int { photos.count }

    /// Returns the digest of everything that the list states about a photo.
    public func digest(at index: Int) -> Int64? { digests[index] }

    /// Writes an entry. Returns false for a photo whose address is too long.
    public mutating func read(_ index: Int, into entry: inout EntryBytes) -> Bool {
        let photo = photos[index]
        let (address, thumbnail) = (photo.photo.text, photo.thumbnail?.text ?? "")
        guard address.utf8.count <= Address.maximumLength, thumbnail.utf8.count <= Address.maximumLength else {
            skipped.append(photo.id)
            return false
        }
        let (date, origin): (Timestamp?, DateOrigin) =
            switch photo.date {
            case nil: (nil, .unknown)
            case .moment(let time): (time, .taken)
            case .cameraTime(let time): (Timestamp(cameraTime: time), .taken)
            case .published(let time): (time, .stated)
            }
        entry.begin(
            date: date ?? .unknown, date == nil ? .unknown : origin, videoMilliseconds: photo.videoMilliseconds,
            digest: digests[index])
        entry.append(photo.id.utf8)
        entry.end(.id)
        entry.append(photo.name.utf8)
        entry.end(.name)
        entry.append(address.utf8)
        entry.end(.photo)
        entry.append(thumbnail.utf8)
        entry.end(.thumbnail)
        entry.append(photo.revision.utf8)
        entry.end(.revision)
        // A part tells the cache that the id is not a path.
        entry.append(photo.part.utf8)
        entry.end(.libraryPart)
        entry.append(photo.thumbhash.utf8)
        entry.end(.thumbhash)
        entry.append(annotations[index].utf8)
        entry.end(.annotations)
        return true
    }
}
