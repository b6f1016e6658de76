/// The decoder's report on its sandbox and its libraries.
///
///     restrictions: Landlock 7, seccomp
///     libraries: libjpeg-turbo 2.1.5, libpng 1.6.39
public struct DecoderReport: Hashable, Sendable {
    /// The argument that requests a report instead of a picture.
    public static let argument = "--report"
    /// The most bytes of a report.
    public static let longest = 4_096

    /// The names of the sandbox's restrictions, including missing ones.
    public let restrictions: [String]
    /// The libraries that decode pictures, with their versions.
    public let libraries: [String]

    /// Creates a report.
    public init(restrictions: [String], libraries: [String]) {
        self.restrictions = restrictions
        self.libraries = libraries
    }

    /// The report as readable text, which `init(text:)` parses.
    public var text: String {
        "restrictions: \(restrictions.joined(separator: ", "))\nlibraries: \(libraries.joined(separator: ", "))\n"
    }

    /// Reads a report from sealed memory.
    public init(reading memory: SealedMemory) throws(PixelsError) {
        let text = try memory.withBytes(atMost: Self.longest) { String(decoding: $0, as: UTF8.self) }
        try self.init(text: text)
    }

    /// Parses the text of a report. Throws for any text that `text` cannot return.
    init(text: String) throws(PixelsError) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 3, lines[2].isEmpty, text.utf8.allSatisfy({ $0 == 0x0A || 0x20...0x7E ~= $0 }) else {
            throw .malformedReply("the report does not have two lines")
        }
        restrictions = try Self.names(lines[0], after: "restrictions: ")
        libraries = try Self.names(lines[1], after: "libraries: ")
    }

    private static func names(_ line: Substring, after title: String) throws(PixelsError) -> [String] {
        guard line.hasPrefix(title) else { throw .malformedReply("the report has no \(title)") }
        return line.dropFirst(title.count).split(separator: ",").map { name in
            String(name.drop(while: { $0 == " " }))
        }
    }
}
