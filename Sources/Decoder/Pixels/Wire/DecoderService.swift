/// The protocol between Vitrine and the decoder server.
///
/// The server's standard input is a socket. Each packet is a request for one picture, with three descriptors: the
/// picture, the memory for the answer, and a socket for this picture. On the picture's socket, the server reports once
/// how the picture's process ended. If the client closes that socket, the server kills the process. When the server's
/// standard input is closed, it accepts no more pictures, and exits after the last one.
public enum DecoderService {
    /// The argument that starts a decoder server.
    public static let argument = "--serve"
    /// The exit status of a forked process that needs further libraries. The client then starts the decoder's program
    /// for the picture.
    public static let elsewhere: Int32 = 3
    /// The maximum number of bytes of a request packet.
    public static let longestPacket = 1_024

    /// The end of one picture's process.
    public enum End: Equatable, Sendable {
        /// The process ended. The value is its wait status; 0 means success.
        case ended(Int32)
        /// The server could not start a process. The value is the system's error code.
        case notBegun(Int32)

        /// The result as bytes for the socket.
        public var bytes: [UInt8] {
            switch self {
            case .ended(let status): Self.bytes(0, status)
            case .notBegun(let code): Self.bytes(1, code)
            }
        }

        /// Decodes `bytes`. Returns nil if they are malformed.
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

/// The protocol between Vitrine and a decoder of small pictures.
///
/// Such a decoder decodes many pictures in one process, because starting a process takes longer than decoding a
/// thumbnail. The decoder's standard input is a socket. Each packet contains a number, a request preceded by its
/// length, and the picture. The answer is one packet: the same number and an encoded `DecodeOutcome`, or the number
/// alone if the picture needs a process of its own. The decoder exits when the socket is closed.
///
///     try socket.send(SmallPictureService.packet(7, request, bytes))
public enum SmallPictureService {
    /// The argument that starts a decoder of small pictures.
    public static let argument = "--small"
    /// The maximum number of bytes of a picture. Thumbnails have 5 to 20 KB.
    public static let longestPicture = 64 << 10
    /// The maximum number of bytes of a request packet with its picture.
    public static let longestPacket = 8 + DecoderService.longestPacket + longestPicture
    /// The maximum number of bytes of pixels in an answer. A socket buffers about 200 KiB.
    private static let mostPixels = 128 << 10
    /// The maximum number of bytes of an answer besides its pixels, for a picture without metadata.
    private static let longestHead = 1 << 10

    /// Whether a decoder of small pictures can probably answer. The file must be short and begin like a JPEG or a lossy
    /// WebP, and the request must need few pixels. The decoder may still decline.
    public static func takes(_ bytes: [UInt8], for request: DecodeRequest) -> Bool {
        bytes.count <= longestPicture && (bytes.starts(with: [0xFF, 0xD8, 0xFF]) || isLossyWebP(bytes))
            && takes(request)
    }

    /// Whether a file begins like a lossy WebP without profile, transparency, orientation and animation.
    private static func isLossyWebP(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 20, bytes.starts(with: "RIFF".utf8), bytes[8..<12].elementsEqual("WEBP".utf8) else {
            return false
        }
        let chunk = bytes[12..<16]
        return chunk.elementsEqual("VP8 ".utf8) || chunk.elementsEqual("VP8X".utf8) && bytes[20] & 0x3A == 0
    }

    /// Whether the request is for one frame with few pixels.
    public static func takes(_ request: DecodeRequest) -> Bool {
        request.product == .pixels && request.frame == 0 && request.run == 1
            && (PixelBuffer.byteCount(of: request.box) ?? .max) <= mostPixels
    }

    /// Encodes a numbered request with its picture.
    public static func packet(_ number: UInt32, _ request: DecodeRequest, _ picture: [UInt8]) -> [UInt8] {
        let request = request.packet
        var wire = WireWriter()
        wire.append(number)
        wire.append(UInt32(request.count))
        return wire.bytes + request + picture
    }

    /// Decodes a request packet. Returns nil if the packet is malformed, or if `takes` returns false.
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

    /// Returns the maximum number of bytes of the answer to a request.
    public static func longestAnswer(to request: DecodeRequest) -> Int {
        4 + longestHead + (PixelBuffer.byteCount(of: request.box) ?? 0)
    }

    /// Encodes an answer. A nil outcome means that the client must use a separate process.
    public static func answer(_ number: UInt32, _ outcome: DecodeOutcome?) -> [UInt8] {
        var wire = WireWriter()
        wire.append(number)
        return wire.bytes + (outcome?.block ?? [])
    }

    /// Returns the encoded outcome in an answer. It is empty if the decoder declined. Returns nil if the packet does
    /// not begin with `number`.
    public static func block(_ answer: [UInt8], to number: UInt32) -> ArraySlice<UInt8>? {
        answer.count >= 4 && integer(answer[...]) == number ? answer.dropFirst(4) : nil
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// The protocol of the decoder that plays one video.
///
/// The decoder's arguments are `argument` and an encoded `DecodeRequest`. Its standard input is the video, its standard
/// output is shared memory, and its standard error is a packet socket. Each packet from the client is an `Order`, and
/// the decoder answers each order with one `Answer`. A picture stays in the shared memory, as an encoded
/// `DecodeOutcome`, until the next order. The decoder exits when the socket is closed.
public enum VideoService {
    /// The argument that starts a decoder to play a video.
    public static let argument = "--play"
    /// The latest time of a video in microseconds: thirty years.
    public static let latest: Int64 = 1_000_000_000_000_000

    /// A request for the frame that is due at a time.
    public struct Order: Equatable, Sendable {
        /// A number that the answer repeats.
        public let number: UInt32
        /// The time in the video, from 0 to `latest`.
        public let microseconds: Int64

        /// The number of bytes of an encoded order.
        public static let length = 12

        /// Creates an order. Limits the time to the range from 0 to `latest`.
        public init(number: UInt32, microseconds: Int64) {
            self.number = number
            self.microseconds = max(0, min(microseconds, latest))
        }

        /// The order as a packet.
        public var packet: [UInt8] {
            var wire = WireWriter()
            wire.append(number)
            wire.append(microseconds)
            return wire.bytes
        }

        /// Reads a packet. Throws unless the packet is a valid order.
        public init(packet: [UInt8]) throws(PixelsError) {
            self = try packet.withUnsafeBufferPointer { bytes throws(PixelsError) in
                var wire = WireReader(UnsafeRawBufferPointer(bytes))
                let (number, time) = (try wire.integer(UInt32.self), try wire.integer(Int64.self))
                guard wire.remaining == 0, 0...latest ~= time else { throw .malformedRequest("a time") }
                return Order(number: number, microseconds: time)
            }
        }
    }

    /// The answer to an order.
    public struct Answer: Equatable, Sendable {
        /// The kind of an answer.
        public enum Kind: UInt8, Sendable {
            /// The shared memory contains a picture, or the reason why there is none.
            case picture
            /// The client must continue to show the previous picture.
            case same
            /// The video is over.
            case end
        }

        /// The number of the order to which this answer belongs.
        public let number: UInt32
        /// The kind of the answer.
        public let kind: Kind
        /// The number of bytes in the shared memory, for the kind `picture`.
        public let count: Int
        /// The frame's time in the video, from 0 to `latest`.
        public let microseconds: Int64
        /// The time of the next frame in microseconds, above 0; nil if unknown.
        public let next: Int64?
        /// Whether the decoder knows that no other frame follows.
        public let isLast: Bool

        /// The number of bytes of an encoded answer.
        public static let length = 26

        /// Creates an answer. Limits the times to the range from 0 to `latest`; `next` becomes nil unless it is above
        /// 0.
        public init(
            number: UInt32, kind: Kind, count: Int = 0, microseconds: Int64 = 0, next: Int64? = nil,
            isLast: Bool = false
        ) {
            self.number = number
            self.kind = kind
            self.count = count
            self.microseconds = max(0, min(microseconds, latest))
            self.next = next.flatMap { $0 > 0 ? min($0, latest) : nil }
            self.isLast = isLast
        }

        /// The answer as a packet.
        public var packet: [UInt8] {
            var wire = WireWriter()
            wire.append(number)
            wire.append(kind.rawValue)
            wire.append(UInt32(clamping: count))
            wire.append(microseconds)
            wire.append(next ?? 0)
            wire.append(isLast)
            return wire.bytes
        }

        /// Reads a packet, which may contain any bytes. Throws unless the packet is a valid answer.
        public init(packet: [UInt8]) throws(PixelsError) {
            self = try packet.withUnsafeBufferPointer { bytes throws(PixelsError) in
                var wire = WireReader(UnsafeRawBufferPointer(bytes))
                let (number, kind) = (try wire.integer(UInt32.self), Kind(rawValue: try wire.integer()))
                let (count, time) = (Int(try wire.integer(UInt32.self)), try wire.integer(Int64.self))
                let (next, isLast) = (try wire.integer(Int64.self), try wire.flag())
                guard let kind, wire.remaining == 0, 0...latest ~= time, 0...latest ~= next else {
                    throw .malformedReply("no frame")
                }
                return Answer(
                    number: number, kind: kind, count: count, microseconds: time, next: next, isLast: isLast)
            }
        }
    }
}
