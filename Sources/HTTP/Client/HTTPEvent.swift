import Numbers

/// What happens in a transfer, in this order: a response, then pieces of its body or word of how much has been written,
/// then the end.
public enum HTTPEvent: Hashable, Sendable {
    /// The answer has begun.
    case response(HTTPResponse)
    /// A piece of the body, for a request whose destination is a stream.
    case bytes([UInt8])
    /// Where the file now ends, counted from the beginning of the whole, for one whose destination is a file.
    case written(ByteCount)
    /// All of it is there.
    case end(HTTPMetrics)
}
