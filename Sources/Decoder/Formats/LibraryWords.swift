/// What a library says is wrong with a picture, out of the room that it was given for it: the words may be the picture's.
struct LibraryWords {
    /// In plain letters.
    let text: String

    /// Reads as far as there are any.
    init(_ room: UnsafeRawBufferPointer) {
        let words = String(decoding: room.prefix { $0 != 0 }.map { 0x20...0x7E ~= $0 ? $0 : 0x3F }, as: UTF8.self)
        text = words.isEmpty ? "its parts do not fit together" : words
    }
}
