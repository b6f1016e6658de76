/// What the decoder says of itself: how it is confined on this machine, and what it decodes with.
///
///     walls: Landlock 7, seccomp
///     libraries: libjpeg-turbo 2.1.5, libpng 1.6.39
public struct DecoderReport: Hashable, Sendable {
    /// The argument that asks for it, in a request's place.
    public static let argument = "--walls"
    /// The most bytes of it.
    public static let longest = 4_096

    /// The walls around it, by name, missing ones too.
    public let restrictions: [String]
    /// The libraries that read pictures, with their versions.
    public let libraries: [String]

    /// Puts a report together.
    public init(restrictions: [String], libraries: [String]) {
        self.restrictions = restrictions
        self.libraries = libraries
    }

    /// The report as text for people, which `init(text:)` reads again.
    public var text: String {
        "walls: \(restrictions.joined(separator: ", "))\nlibraries: \(libraries.joined(separator: ", "))\n"
    }

    /// Reads a report out of the block that the decoder has sealed.
    public init(reading memory: SealedMemory) throws(PixelsError) {
        let text = try memory.withBytes(atMost: Self.longest) { String(decoding: $0, as: UTF8.self) }
        try self.init(text: text)
    }

    /// Reads exactly what `text` writes, in printable ASCII.
    init(text: String) throws(PixelsError) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 3, lines[2].isEmpty, text.utf8.allSatisfy({ $0 == 0x0A || 0x20...0x7E ~= $0 }) else {
            throw .malformedReply("the report is not of two lines")
        }
        restrictions = try Self.names(lines[0], behind: "walls: ")
        libraries = try Self.names(lines[1], behind: "libraries: ")
    }

    private static func names(_ line: Substring, behind title: String) throws(PixelsError) -> [String] {
        guard line.hasPrefix(title) else { throw .malformedReply("the report has no \(title)") }
        return line.dropFirst(title.count).split(separator: ",").map { name in
            String(name.drop(while: { $0 == " " }))
        }
    }
}
