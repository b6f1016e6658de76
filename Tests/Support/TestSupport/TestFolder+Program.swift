import Foundation

extension TestFolder {
    /// Writes a program, and the folders it is in. Returns its path.
    ///
    /// A shell writes it, which has ended then: a file that this process had open may be open in what another test starts
    /// just now, and what is open for writing anywhere cannot be executed (ETXTBSY).
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
