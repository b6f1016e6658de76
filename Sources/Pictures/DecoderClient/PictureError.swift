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

/// How files begin that are shown where some library is installed, which it is not.
///
/// A format is told by its files' first bytes. What begins like one that could not be decoded for want of a library cannot be
/// either, and in this run that stays so: who has ten thousand such photos need not have a decoder started for each.
struct MissingLibraries {
    private var failures: [[UInt8]: DecodeFailure] = [:]

    /// As many bytes as the longest signature has: a HEIF file's brand ends with the twelfth.
    private static let length = 12
    /// No more are remembered: the bytes of some formats' files differ soon, and each would be one more.
    private static let most = 64

    /// Why a file cannot be decoded, as far as that is known already.
    func failure(ofFileAt path: String) -> DecodeFailure? {
        failures.isEmpty ? nil : Self.beginning(path).flatMap { failures[$0] }
    }

    /// Takes in why a file could not be decoded.
    mutating func note(_ error: PictureError, ofFileAt path: String) {
        guard error.isForWantOfALibrary, case .undecodable(let failure) = error, failures.count < Self.most,
            let beginning = Self.beginning(path)
        else { return }
        failures[beginning] = failure
    }

    private static func beginning(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: length)
        return pread(descriptor, &bytes, length, 0) == length ? bytes : nil
    }
}
