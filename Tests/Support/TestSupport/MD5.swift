/// The hash of HTTP's digest authentication.
public enum MD5 {
    /// Returns a text's hash in hexadecimal digits.
    public static func text(of text: String) throws -> String {
        let folder = TestFolder()
        return String(try Command("/usr/bin/md5sum", [folder.write("text", text)]).text.prefix(32))
    }
}
