/// The name of a thumbnail's file: `0f3a….jpg`, of the photo's place and what its file was then.
///
/// So a photo that changed gets a thumbnail of another name, and the list of before goes on to name the one of before until
/// it is replaced itself; and nobody has to look at the date of a thumbnail to see that it is another one. A name is taken
/// only if nobody has it: of two photos with one digest the second gets a number.
struct ThumbnailName: Hashable, Sendable {
    /// The name.
    let text: String

    init(of reference: String, _ stamp: FileStamp, number: Int = 0) {
        let words = "\(reference)\n\(stamp.size)\n\(stamp.seconds).\(stamp.nanoseconds)".utf8
        let digits = Digest.text(Digest.of(words, seed: 1)) + Digest.text(Digest.of(words, seed: 2))
        text = number == 0 ? digits + Self.ending : "\(digits)-\(number)\(Self.ending)"
    }

    /// Takes a name that was written down, if it is one of ours.
    init?(written text: String) {
        let digits = text.utf8.prefix(32)
        let rest = text.utf8.dropFirst(32).dropLast(Self.ending.utf8.count)
        guard text.hasSuffix(Self.ending), digits.count == 32,
            digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }),
            rest.isEmpty
                || rest.first == UInt8(ascii: "-") && rest.dropFirst().allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        self.text = text
    }

    private static let ending = ".jpg"
}
