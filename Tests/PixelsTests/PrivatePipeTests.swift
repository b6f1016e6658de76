import Glibc
import Pixels
import Testing

@Suite struct PrivatePipeTests {
    @Test func bothEndsCloseOnExec() throws {
        let pipe = try PrivatePipe()
        defer { close(pipe.reading) }
        for end in [pipe.reading, pipe.writing] { #expect(fcntl(end, F_GETFD) & FD_CLOEXEC != 0) }
        var byte: UInt8 = 7
        #expect(write(pipe.writing, &byte, 1) == 1)
        close(pipe.writing)
        byte = 0
        #expect(read(pipe.reading, &byte, 1) == 1 && byte == 7 && read(pipe.reading, &byte, 1) == 0)
    }
}
