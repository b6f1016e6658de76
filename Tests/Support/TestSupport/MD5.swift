/// The digest that HTTP's Digest is made of.
public enum MD5 {
    /// In hexadecimal digits, as HTTP has it.
    public static func text(of text: String) throws -> String {
        let folder = TestFolder()
        return String(try Command("/usr/bin/md5sum", [folder.write("text", text)]).text.prefix(32))
    }
}
