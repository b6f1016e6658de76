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
