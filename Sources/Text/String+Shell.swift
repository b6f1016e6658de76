extension String {
    /// The text as one word of a POSIX shell, in quotes where it needs them.
    ///
    ///     print("vitrine export " + "it's".shellWord)     // vitrine export 'it'\''s'
    ///
    /// Nothing of it is made visible: what may go to a terminal is to be asked of ``madeVisible`` before.
    public var shellWord: String {
        let plain = utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "_-./:,@%+".utf8.contains(byte)
            }
        }
        guard !plain || isEmpty else { return self }
        return "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }
}
