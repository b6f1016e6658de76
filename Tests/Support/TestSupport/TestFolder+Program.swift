import Foundation

extension TestFolder {
    /// Writes a program, with its folders. Returns its path.
    ///
    /// A shell writes it and ends. If this process wrote it, a child that another test starts just then could inherit
    /// the open file, and a file open for writing cannot be executed (ETXTBSY).
    @discardableResult
    public func writeProgram(_ name: String, _ script: String) throws -> String {
        let program = path(name)
        let made = try Command(
            "/bin/sh",
            ["-c", "mkdir -p \"${0%/*}\" && printf %s \"$1\" >\"$0\" && chmod 755 \"$0\"", program, script])
        guard made.status == 0 else { throw POSIXError(.EIO) }
        return program
    }
}
