/// The attributes of one photo as they lie in ``WrittenPhotos``: id, name and date, then kind and reference of each image.
struct WrittenFields {
    enum ImageKind: UInt8 {
        case image = 1
        case thumbnail = 2
    }

    private let bytes: UnsafeRawBufferPointer
    private var place = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func next() -> UnsafeRawBufferPointer {
        let count = Int(bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
        place += 4 + count
        return UnsafeRawBufferPointer(rebasing: bytes[place - count..<place])
    }

    mutating func nextImage() -> (kind: ImageKind, reference: UnsafeRawBufferPointer)? {
        guard place < bytes.count, let kind = ImageKind(rawValue: bytes[place]) else { return nil }
        place += 1
        return (kind, next())
    }

    // MARK: - Writing

    static func append(_ value: UnsafeRawBufferPointer?, to bytes: inout [UInt8]) {
        let start = bytes.count
        withUnsafeBytes(of: UInt32(value?.count ?? 0)) { bytes.append(contentsOf: $0) }
        guard let value else { return }
        Attributes.append(value, to: &bytes)
        let count = bytes.count - start - 4
        // Shorter than it was written, where it was written with references.
        if count < value.count {
            bytes.withUnsafeMutableBytes { $0.storeBytes(of: UInt32(count), toByteOffset: start, as: UInt32.self) }
        }
    }
}
