/// The decoder's answer in shared memory: a picture or a failure.
///
/// The answer consists of "VTRN", a version, a kind, the values in order, and last the pixels or the thumbnail. The
/// process that writes the answer has decoded untrusted bytes and may be compromised. So the reader must handle any
/// bytes safely.
public enum DecodeOutcome: Hashable, Sendable {
    /// The decoder decoded the picture.
    case picture(DecodeReply)
    /// The decoder could not decode the picture.
    case failure(DecodeFailure)

    private static let magic: UInt32 = 0x4E52_5456
    private static let version: UInt16 = 4
    private static let headerLength = 7

    /// Returns the maximum number of bytes of the answer to a request. Writer and reader use the same limit.
    public static func longestEncoding(for request: DecodeRequest) -> Int {
        let product =
            switch request.product {
            case .facts: 0
            case .pixels: request.mostBytes
            case .thumbnail: DecodeReply.longestThumbnail
            }
        let durations = 4 * DecodeRequest.runs.upperBound
        return headerLength + 64 + durations + PictureMetadata.longestText + PictureMetadata.longestEncoding + product
    }

    /// Reads the answer to a request. Throws `PixelsError` if the bytes are anything else.
    public init(reading block: UnsafeRawBufferPointer, for request: DecodeRequest) throws(PixelsError) {
        var wire = WireReader(block)
        guard try wire.integer(UInt32.self) == Self.magic, try wire.integer(UInt16.self) == Self.version else {
            throw .malformedReply("wrong signature or version")
        }
        switch try wire.integer(UInt8.self) {
        case 0: self = .picture(try DecodeReply(from: &wire, for: request))
        case 1: self = .failure(try DecodeFailure(from: &wire))
        default: throw .malformedReply("unknown kind")
        }
        guard wire.remaining == 0 else { throw .malformedReply("unexpected bytes after the end") }
    }

    /// Reads the answer to a request from sealed memory.
    public init(reading memory: SealedMemory, for request: DecodeRequest) throws(PixelsError) {
        self = try memory.withBytes(atMost: Self.longestEncoding(for: request)) { block throws(PixelsError) in
            try DecodeOutcome(reading: block, for: request)
        }
    }

    /// The encoded answer, if it contains at most one frame.
    public var block: [UInt8] { head + product }

    /// Writes the answer into memory and seals the memory.
    public func write(to memory: SealedMemory) throws(PixelsError) {
        try memory.fill(with: [head, product] + following)
    }

    /// Writes the answer over the beginning of shared memory. Returns the number of bytes.
    public func write(over memory: SealedMemory) throws(PixelsError) -> Int {
        try memory.overwrite(with: [head, product])
    }

    /// The encoded answer without pixels or thumbnail.
    var head: [UInt8] {
        var wire = WireWriter()
        wire.append(Self.magic)
        wire.append(Self.version)
        switch self {
        case .picture(let reply):
            wire.append(0 as UInt8)
            reply.encodeHead(to: &wire)
        case .failure(let failure):
            wire.append(1 as UInt8)
            failure.encode(to: &wire)
        }
        return wire.bytes
    }

    /// The bytes of the pixels or the thumbnail. Swift shares the array without copying the bytes.
    var product: [UInt8] {
        guard case .picture(let reply) = self else { return [] }
        return reply.pixels?.bytes ?? reply.thumbnail ?? []
    }

    /// The bytes of the further frames. Swift shares the arrays without copying the bytes.
    var following: [[UInt8]] {
        if case .picture(let reply) = self { reply.following.map(\.pixels.bytes) } else { [] }
    }
}

/// The decoder's report on its sandbox and its libraries.
///
///     restrictions: Landlock 7, seccomp
///     libraries: libjpeg-turbo 2.1.5, libpng 1.6.39
public struct DecoderReport: Hashable, Sendable {
    /// The argument that requests a report instead of a picture.
    public static let argument = "--report"
    /// The maximum number of bytes of a report.
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

    /// The names of the restrictions that the system lacks, such as `no Landlock`.
    public var missingRestrictions: [String] {
        restrictions.isEmpty ? ["no restrictions"] : restrictions.filter { $0.hasPrefix("no ") }
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

    /// Parses the text of a report. Throws for a text that is not in the form of `text`.
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
