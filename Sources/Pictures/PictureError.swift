import Pixels

/// Why a picture could not be drawn.
public enum PictureError: Error, Equatable, CustomStringConvertible {
    /// The decoder cannot be started; the system's reason.
    case cannotStart(String)
    /// The decoder ended without an answer: the picture broke it.
    case decoderDied
    /// The decoder took longer than any picture should.
    case tookTooLong
    /// The decoder was stopped, because nobody wants the picture any more.
    case cancelled
    /// The decoder says why it cannot decode it.
    case undecodable(DecodeFailure)
    /// The picture's file cannot be read; the system's reason.
    case file(String)

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .cannotStart(let reason): "The picture decoder cannot be started: \(reason)."
        case .decoderDied: "The picture cannot be decoded."
        case .tookTooLong: "Decoding the picture takes too long."
        case .cancelled: "Drawing the picture was cancelled."
        case .undecodable(let failure): failure.description
        case .file(let reason): "The picture’s file cannot be read: \(reason)."
        }
    }

    /// Whether the picture itself is at fault, and will be the next time too.
    var isThePicturesFault: Bool {
        switch self {
        case .decoderDied, .tookTooLong, .undecodable: true
        case .cannotStart, .cancelled, .file: false
        }
    }
}
