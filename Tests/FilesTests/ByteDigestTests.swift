import Foundation
import TestSupport
import Testing

@testable import Files

@Suite struct ByteDigestTests {
    private let folder = TestFolder()

    @Test(
        "MD5 gives the digests in RFC 1321",
        arguments: [
            ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
            // The example of the Thumbnail Managing Standard.
            ("file:///home/jens/photos/me.png", "c6ee772d9e49320e97ec29a7eb5b1697"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"),
            (String(repeating: "1234567890", count: 8), "57edf4a22be3c955ac49da2e2107b67a"),
        ])
    func digests(text: String, digest: String) {
        #expect(ByteDigest.md5.digits(of: Array(text.utf8)) == digest)
    }

    @Test(
        "Digests agree with md5sum and sha256sum for every length up to two blocks",
        arguments: [(ByteDigest.md5, "/usr/bin/md5sum"), (.sha256, "/usr/bin/sha256sum")])
    func allLengths(algorithm: ByteDigest, program: String) throws {
        let texts = (0..<130).map { String(repeating: "x", count: $0) }
        let files = texts.enumerated().map { folder.write("texts/\($0.offset)", $0.element) }
        let expected = try Command(program, files).lines.map { String($0.prefix { $0 != " " }) }
        #expect(texts.map { algorithm.digits(of: Array($0.utf8)) } == expected)
    }

    @Test("A file of several pieces has the digest of its bytes, and a shorter file is an error")
    func files() throws {
        let bytes = (0..<200_001).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let file = open(folder.write("file", bytes), O_RDONLY)
        defer { close(file) }
        for algorithm in [ByteDigest.md5, .sha256] {
            #expect(try algorithm.digits(ofFile: file, length: bytes.count) == algorithm.digits(of: bytes))
        }
        #expect(throws: SystemError.self) { try ByteDigest.md5.digits(ofFile: file, length: bytes.count + 1) }
    }
}
