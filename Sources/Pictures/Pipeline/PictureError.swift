import Glibc
import Pixels

/// Why a picture could not be drawn.
public enum PictureError: Error, Equatable, CustomStringConvertible {
    /// The decoder cannot be started; the system's reason.
    case cannotStart(String)
    /// The process, or the machine, has no file descriptor left to start it with.
    case tooFewDescriptors
    /// The decoder ended without an answer.
    case decoderDied
    /// The decoder took longer than any picture should.
    case tookTooLong
    /// The decoder was stopped, because nobody wants the picture any more.
    case cancelled
    /// The decoder says why it cannot decode it.
    case undecodable(DecodeFailure)
    /// The picture's file cannot be read; the system's reason.
    case file(String)

    /// The system refused something that the decoder needs to be started.
    init(starting error: PixelsError) {
        if case .system(_, EMFILE) = error {
            self = .tooFewDescriptors
        } else if case .system(_, ENFILE) = error {
            self = .tooFewDescriptors
        } else {
            self = .cannotStart("\(error)")
        }
    }

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .cannotStart(let reason): "The picture decoder cannot be started: \(reason)."
        case .tooFewDescriptors: "Vitrine has too few file descriptors: raise the limit with “ulimit -n”."
        case .decoderDied: "The picture cannot be decoded."
        case .tookTooLong: "Decoding the picture takes too long."
        case .cancelled: "Drawing the picture was cancelled."
        case .undecodable(let failure): failure.description
        case .file(let reason): "The picture’s file cannot be read: \(reason)."
        }
    }

    /// Whether the system lacks what shows pictures of this format.
    var isForWantOfALibrary: Bool {
        if case .undecodable(.missingLibrary) = self { true } else { false }
    }

    /// Whether the picture itself is at fault, and will be the next time too.
    ///
    /// A decoder that dies or takes too long may do so because of the picture, or because the machine is short of memory or
    /// of time. That is no reason to throw a picture away.
    public var isThePicturesFault: Bool {
        switch self {
        case .undecodable(let failure): failure.isThePicturesFault
        case .decoderDied, .tookTooLong, .cannotStart, .tooFewDescriptors, .cancelled, .file: false
        }
    }
}
