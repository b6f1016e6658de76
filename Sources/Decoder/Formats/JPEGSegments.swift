/// The marker segments before a JPEG's first scan, walked without the library: it would keep a copy of every segment
/// that it is asked for, and a file can hold any number of them.
struct JPEGSegments {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The first EXIF segment's content, behind the "Exif\0\0" that tells it from other segments of its kind.
    var exif: UnsafeRawBufferPointer? {
        var position = 2
        while let segment = segment(at: &position) {
            if segment.marker == 0xE1, segment.content.starts(with: "Exif\0\0".utf8) {
                return UnsafeRawBufferPointer(rebasing: segment.content.dropFirst(6))
            }
        }
        return nil
    }

    /// The colour profile, put together of its parts: "ICC_PROFILE\0", the part's number from 1 on, and how many there are.
    /// Nothing where one is missing, or where they are longer together than any profile that is understood.
    var profile: [UInt8]? {
        let mark = "ICC_PROFILE\0".utf8
        var parts: [Int: UnsafeRawBufferPointer] = [:]
        var (count, length) = (0, 0)
        var position = 2
        while let segment = segment(at: &position) {
            let content = segment.content
            guard segment.marker == 0xE2, content.count > mark.count + 2, content.starts(with: mark) else { continue }
            let part = UnsafeRawBufferPointer(rebasing: content[(mark.count + 2)...])
            guard parts.updateValue(part, forKey: Int(content[mark.count])) == nil else { return nil }
            count = Int(content[mark.count + 1])
            length += part.count
            guard length <= ICCProfile.longest else { return nil }
        }
        guard count > 0, parts.count == count else { return nil }
        let inOrder = (1...count).compactMap { parts[$0] }
        return inOrder.count == count ? inOrder.flatMap { Array($0) } : nil
    }

    /// The segment at `position`, which moves behind it; nothing from the first scan on, or where there is no marker.
    private func segment(at position: inout Int) -> (marker: UInt8, content: UnsafeRawBufferPointer)? {
        // "Any marker may optionally be preceded by any number of fill bytes, X'FF'" (T.81, B.1.1.2).
        guard position < bytes.count, bytes[position] == 0xFF else { return nil }
        while position < bytes.count, bytes[position] == 0xFF { position += 1 }
        guard position + 3 <= bytes.count else { return nil }
        let marker = bytes[position]
        let length = Int(bytes[position + 1]) << 8 | Int(bytes[position + 2])
        guard marker != 0xDA, marker != 0xD9, length >= 2, position + 1 + length <= bytes.count else { return nil }
        let content = UnsafeRawBufferPointer(rebasing: bytes[position + 3..<position + 1 + length])
        position += 1 + length
        return (marker, content)
    }
}
