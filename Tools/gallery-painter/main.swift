import Glibc
import Painting

/// Prints a line to standard error and exits.
func fail(_ message: String, status: Int32) -> Never {
    let line = Array("\(message)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
    exit(status)
}

guard CommandLine.arguments.count == 2 else { fail("usage: gallery-painter FOLDER", status: 64) }

do {
    try await GalleryWriter(path: CommandLine.arguments[1]).write()
} catch {
    fail("gallery-painter: \(error)", status: 1)
}
