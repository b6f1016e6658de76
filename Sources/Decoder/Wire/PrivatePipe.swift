import CPackets
import Glibc

/// Two ends of a pipe that no program gets by accident: they close on exec from the beginning, and not a moment later, in which
/// another thread may start one.
public struct PrivatePipe: Sendable {
    /// The end to read from, the holder's to close.
    public let reading: CInt
    /// The end to write to, the holder's to close.
    public let writing: CInt

    /// Makes one.
    public init() throws(PixelsError) {
        var ends: [CInt] = [-1, -1]
        guard cpackets_pipe(&ends) == 0 else { throw .system(call: "pipe2", code: errno) }
        (reading, writing) = (ends[0], ends[1])
    }
}
