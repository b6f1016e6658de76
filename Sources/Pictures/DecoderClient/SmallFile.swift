import Glibc
import Pixels

/// A file as short as those are that may go to a decoder of small pictures.
enum SmallFile {
    /// Reads one from its beginning; nil if it is longer, empty, or cannot be read like that. The descriptor stays where it is.
    static func read(_ descriptor: Int32) -> [UInt8]? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            1...SmallPictureService.longestPicture ~= Int(status.st_size)
        else { return nil }
        let size = Int(status.st_size)
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, size, 0))
        }
        // One that has become shorter meanwhile is somebody's who can look at it alone.
        return bytes.count == size ? bytes : nil
    }
}
