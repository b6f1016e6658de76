/// What Vitrine and the server of its decoder say to each other.
///
/// The server's standard input is a socket. Each packet there is one picture: a request's, with three descriptors, the picture, the block for the answer, and a socket of that picture alone. On this one the server says, once, how the process
/// ended that decoded the picture; and when the other end of it is closed, it ends that process. When its standard input is
/// closed, it takes no more pictures, and ends with the last that it has.
public enum DecoderService {
    /// The argument that starts a server, in a request's place.
    public static let argument = "--serve"
    /// The exit status of a process that leaves its picture to a program of its own, which may load what it needs.
    public static let elsewhere: Int32 = 3
    /// The most bytes of a packet.
    public static let longestPacket = 1_024

    /// How it went with one picture.
    public enum End: Equatable, Sendable {
        /// The process ended; the system's word of it, 0 if all is well.
        case ended(Int32)
        /// There is no process; the system's reason.
        case notBegun(Int32)

        /// As it is written.
        public var bytes: [UInt8] {
            switch self {
            case .ended(let status): Self.bytes(0, status)
            case .notBegun(let code): Self.bytes(1, code)
            }
        }

        /// Reads what `bytes` writes; nil for everything else.
        public init?(bytes: [UInt8]) {
            guard bytes.count == 5 else { return nil }
            let number = bytes[1...].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            switch bytes[0] {
            case 0: self = .ended(Int32(bitPattern: number))
            case 1: self = .notBegun(Int32(bitPattern: number))
            default: return nil
            }
        }

        private static func bytes(_ kind: UInt8, _ number: Int32) -> [UInt8] {
            [kind] + (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
    }
}

/// What Vitrine and a decoder of small pictures say to each other.
///
/// Such a decoder takes one picture after the other: the thumbnails of a gallery are many, and making a process for each costs
/// more than decoding it. Its standard input is a socket. Each packet there is a number, a request with its length in front, and the
/// picture itself; what comes back is one packet, the same number and a `DecodeOutcome`'s block, or the number alone where the
/// picture is left to a process of its own. When the socket is closed, it ends.
///
///     try socket.send(SmallPictureService.packet(7, request, bytes))
public enum SmallPictureService {
    /// The argument that starts such a decoder, in a request's place.
    public static let argument = "--small"
    /// The most bytes of a picture. Thumbnails have 5 to 20 KB.
    public static let longestPicture = 64 << 10
    /// The most bytes of a packet to it.
    public static let longestPacket = 8 + DecoderService.longestPacket + longestPicture
    /// The most bytes of the pixels that are wanted. The system's sockets take some 200 KiB at once.
    private static let mostPixels = 128 << 10
    /// Room for what an answer has beside its pixels, of a picture that says nothing about itself.
    private static let longestHead = 1 << 10

    /// Whether such a decoder may be asked: for pixels, few enough, of a picture that is small and begins as a JPEG does. Whether
    /// it is one for it, only the decoder knows.
    public static func takes(_ bytes: [UInt8], for request: DecodeRequest) -> Bool {
        bytes.count <= longestPicture && bytes.starts(with: [0xFF, 0xD8, 0xFF]) && takes(request)
    }

    /// Whether such a decoder may be asked for that, of a picture that is for it.
    public static func takes(_ request: DecodeRequest) -> Bool {
        request.product == .pixels && request.frame == 0 && request.run == 1
            && (PixelBuffer.byteCount(of: request.box) ?? .max) <= mostPixels
    }

    /// A picture and what is wanted of it, as they are sent, under a number.
    public static func packet(_ number: UInt32, _ request: DecodeRequest, _ picture: [UInt8]) -> [UInt8] {
        let request = request.packet
        var wire = WireWriter()
        wire.append(number)
        wire.append(UInt32(request.count))
        return wire.bytes + request + picture
    }

    /// Takes apart what `packet` has put together; nil for everything that would not be asked for.
    public static func order(
        _ packet: ArraySlice<UInt8>
    ) -> (number: UInt32, request: DecodeRequest, picture: [UInt8])? {
        guard packet.count > 8 else { return nil }
        let (number, length) = (integer(packet), Int(integer(packet.dropFirst(4))))
        let rest = packet.dropFirst(8)
        guard length <= DecoderService.longestPacket, length < rest.count,
            let request = try? DecodeRequest(packet: Array(rest.prefix(length)))
        else { return nil }
        let picture = Array(rest.dropFirst(length))
        return takes(picture, for: request) ? (number, request, picture) : nil
    }

    /// The most bytes of an answer.
    public static func longestAnswer(to request: DecodeRequest) -> Int {
        4 + longestHead + (PixelBuffer.byteCount(of: request.box) ?? 0)
    }

    /// An answer as it is sent; without an outcome, that of a decoder that leaves the picture to a process of its own.
    public static func answer(_ number: UInt32, _ outcome: DecodeOutcome?) -> [UInt8] {
        var wire = WireWriter()
        wire.append(number)
        return wire.bytes + (outcome?.block ?? [])
    }

    /// The block of an answer to the picture of that number, empty if it is left to a process of its own; nil for everything else.
    public static func block(_ answer: [UInt8], to number: UInt32) -> ArraySlice<UInt8>? {
        answer.count >= 4 && integer(answer[...]) == number ? answer.dropFirst(4) : nil
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}
