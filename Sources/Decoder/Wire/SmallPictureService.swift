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
