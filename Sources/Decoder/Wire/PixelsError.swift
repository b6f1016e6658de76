/// What can go wrong between Vitrine and its decoder. A picture that cannot be decoded is a `DecodeFailure` instead.
public enum PixelsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The arguments are not those of a request.
    case malformedRequest(String)
    /// The decoder's block of memory does not hold an answer to the request.
    case malformedReply(String)
    /// The decoder left its block open to change.
    case unsealed
    /// The decoder's block is larger than any answer to the request.
    case oversized(bytes: Int, limit: Int)
    /// The system refused a call.
    case system(call: String, code: CInt)

    /// A sentence for the user or the log.
    public var description: String {
        switch self {
        case .malformedRequest(let reason): "The decoder was asked in a way it does not understand: \(reason)."
        case .malformedReply(let reason): "The decoder's answer makes no sense: \(reason)."
        case .unsealed: "The decoder's answer could still change, so it was not read."
        case .oversized(let bytes, let limit): "The decoder's answer is too long: \(bytes) bytes of \(limit) allowed."
        case .system(let call, let code): "The system refused \(call), error \(code)."
        }
    }
}
