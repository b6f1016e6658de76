import Glibc

extension UnsafeRawBufferPointer {
    /// Writes all bytes to a file. Returns the system's number for why it could not, or nil.
    func written(to descriptor: Int32) -> Int32? {
        var rest = self[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.base.baseAddress.map { $0 + rest.startIndex }, rest.count)
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }
}
