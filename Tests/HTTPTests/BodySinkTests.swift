import Foundation
import Numbers
import TestSupport
import Testing

@testable import HTTP

/// Two transfers with one file: one was cancelled, and the other resumes on another thread.
@Suite struct BodySinkTests {
    private let folder = TestFolder()
    private let path: String
    private let file: BodyFile

    init() throws {
        path = folder.write("file", "")
        let descriptor = open(path, O_RDWR)
        defer { close(descriptor) }
        file = try BodyFile(duplicating: descriptor)
    }

    private func sink(_ mailbox: TransferMailbox, from offset: ByteCount) -> BodySink {
        BodySink(
            HTTPRequest(
                url: "", destination: .file(file),
                resumption: offset == 0 ? nil : .init(offset: offset, validator: "\"a\""), limit: 100), mailbox)
    }

    private func take(_ text: String, _ sink: inout BodySink) throws {
        let isTaken = try Array(text.utf8).withUnsafeBytes { try sink.take($0) }
        #expect(isTaken)
    }

    private var contents: String { get throws { try String(contentsOfFile: path, encoding: .utf8) } }

    @Test("BEHAVIOURS 5.9: a cancelled transfer writes nothing more")
    func cancelled() throws {
        let mailbox = TransferMailbox()
        let transfer = HTTPTransfer(mailbox, onCancel: {})
        var sink = sink(mailbox, from: 0)
        try sink.begin(at: 0)
        try take("ab", &sink)
        transfer.cancel()
        try take("cd", &sink)
        #expect(try contents == "ab")
        var late = self.sink(mailbox, from: 1)
        try late.begin(at: 1)
        #expect(try contents == "ab")
    }

    /// All descriptors of a file share its position.
    @Test func eachBodyIsWrittenAtItsOwnOffset() throws {
        var (first, second) = (sink(TransferMailbox(), from: 0), sink(TransferMailbox(), from: 2))
        try first.begin(at: 0)
        try take("abcd", &first)
        try second.begin(at: 2)
        try take("ef", &first)
        try take("cd", &second)
        #expect(try contents == "abcdef")
    }
}
