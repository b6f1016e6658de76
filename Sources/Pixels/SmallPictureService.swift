/// What Vitrine and a decoder of small pictures say to each other.
///
/// Such a decoder takes one picture after the other: the thumbnails of a gallery are many, and making a process for each costs
/// more than decoding it. Its standard input is a socket. Each packet there is a request, with its length in front, and the picture
/// itself; what comes back is one packet, a `DecodeOutcome`'s block, or nothing but `elsewhere`. When the socket is closed, it
/// ends.
///
///     try socket.send(SmallPictureService.packet(request, bytes))
public enum SmallPictureService {
    /// The argument that starts such a decoder, in a request's place.
    public static let argument = "--small"
    /// The answer of a decoder that leaves the picture to a process of its own.
    public static let elsewhere: [UInt8] = [0]

    /// The most bytes of a picture. Thumbnails have 5 to 20 KB.
    public static let longestPicture = 64 << 10
    /// The most bytes of a packet to it.
    public static let longestPacket = 4 + DecoderService.longestPacket + longestPicture
    /// The most bytes of the pixels that are wanted. The system's sockets take some 200 KiB at once.
    private static let mostPixels = 128 << 10
    /// Room for what an answer has beside its pixels, of a picture that says nothing about itself.
    private static let longestHead = 1 << 10

    /// Whether such a decoder may be asked: for pixels, few enough, of a picture that is small and begins as a JPEG does. Whether
    /// it is one for it, only the decoder knows.
    public static func takes(_ bytes: [UInt8], for request: DecodeRequest) -> Bool {
        bytes.count <= longestPicture && bytes.starts(with: [0xFF, 0xD8, 0xFF]) && takes(request)
    }

    private static func takes(_ request: DecodeRequest) -> Bool {
        request.product == .pixels && request.frame == 0 && request.run == 1
            && (PixelBuffer.byteCount(of: request.box) ?? .max) <= mostPixels
    }

    /// The most bytes of an answer.
    public static func longestAnswer(to request: DecodeRequest) -> Int {
        longestHead + (PixelBuffer.byteCount(of: request.box) ?? 0)
    }

    /// A picture and what is wanted of it, as they are sent.
    public static func packet(_ request: DecodeRequest, _ picture: [UInt8]) -> [UInt8] {
        let request = request.packet
        var wire = WireWriter()
        wire.append(UInt32(request.count))
        return wire.bytes + request + picture
    }

    /// Takes apart what `packet` has put together; nil for everything that would not be asked for.
    public static func order(_ packet: ArraySlice<UInt8>) -> (request: DecodeRequest, picture: [UInt8])? {
        guard packet.count > 4 else { return nil }
        let length = packet.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        let rest = packet.dropFirst(4)
        guard length <= DecoderService.longestPacket, length < rest.count,
            let request = try? DecodeRequest(packet: Array(rest.prefix(length)))
        else { return nil }
        let picture = Array(rest.dropFirst(length))
        return takes(picture, for: request) ? (request, picture) : nil
    }
}
