/// A JPEG file split into its segments.
struct ParsedJPEG {
    var segments: [(marker: UInt8, content: [UInt8])] = []

    /// The bytes from the scan's header to the end of the file.
    var scan: [UInt8] = []

    init?(_ file: [UInt8]) {
        guard file.starts(with: [0xFF, 0xD8]) else { return nil }
        var at = 2
        while at + 3 < file.count {
            guard file[at] == 0xFF else { return nil }
            let length = Int(file[at + 2]) << 8 | Int(file[at + 3])
            guard length >= 2, at + 2 + length <= file.count else { return nil }
            segments.append((file[at + 1], Array(file[(at + 4)..<(at + 2 + length)])))
            at += 2 + length
            if segments.last?.marker == 0xDA { break }
        }
        scan = Array(file[at...])
    }
}
