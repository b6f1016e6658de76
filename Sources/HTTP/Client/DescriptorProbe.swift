import Glibc

/// Finds out whether something failed because there was no file descriptor left.
///
/// curl and the libraries below it need descriptors to look up a name, to connect and to read certificates, and say only that
/// they could not.
enum DescriptorProbe {
    /// Whether the system's number for an error says so.
    static func isShortage(_ code: Int32) -> Bool { code == EMFILE || code == ENFILE }

    /// Whether there is none left now.
    static var findsNone: Bool {
        let descriptor = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor < 0 else {
            close(descriptor)
            return false
        }
        return isShortage(errno)
    }
}
