import Files
import Glibc
import Pixels

/// The reason why a picture was not drawn.
public enum PictureError: Error, Equatable, CustomStringConvertible {
    /// The decoder cannot be started; the text is the system's reason.
    case cannotStart(String)
    /// The process or the system has no free file descriptor.
    case tooFewDescriptors
    /// The user requires restrictions of the decoder that this system lacks.
    case unrestricted([String])
    /// The decoder ended without an answer.
    case decoderDied
    /// The decoder exceeded its time limit.
    case tookTooLong
    /// The decoder was stopped, because the picture was no longer needed.
    case cancelled
    /// The decoder could not decode the picture and gave this reason.
    case undecodable(DecodeFailure)
    /// The file cannot be read; the text is the system's reason.
    case file(String)

    /// Creates an error from a system call that failed before the decoder started.
    init(starting error: PixelsError) {
        if case .system(_, EMFILE) = error {
            self = .tooFewDescriptors
        } else if case .system(_, ENFILE) = error {
            self = .tooFewDescriptors
        } else {
            self = .cannotStart("\(error)")
        }
    }

    /// An error message for the user.
    public var description: String {
        switch self {
        case .cannotStart(let reason): "The picture decoder cannot be started: \(reason)."
        case .tooFewDescriptors: "Vitrine has too few file descriptors: raise the limit with “ulimit -n”."
        case .unrestricted(let names):
            "The setting “require-sandbox” is on, and this system has \(names.joined(separator: " and ")) for decoders."
        case .decoderDied: "The picture cannot be decoded."
        case .tookTooLong: "Decoding the picture took too long."
        case .cancelled: "Drawing the picture was cancelled."
        case .undecodable(let failure): failure.description
        case .file(let reason): "The picture’s file cannot be read: \(reason)."
        }
    }

    /// Whether a library for this format is missing on this system.
    var isMissingLibrary: Bool {
        if case .undecodable(.missingLibrary) = self { true } else { false }
    }

    /// Whether the cause lies in the picture, so that another attempt would also fail.
    ///
    /// A crash or time-out may come from the picture, but also from a lack of memory or time. So neither is a reason to
    /// reject the picture.
    public var isThePicturesFault: Bool {
        switch self {
        case .undecodable(let failure): failure.isThePicturesFault
        case .decoderDied, .tookTooLong, .cannotStart, .unrestricted, .tooFewDescriptors, .cancelled, .file: false
        }
    }
}

/// Remembers formats that the decoder cannot decode because a library is missing.
///
/// The first bytes of a file identify its format. A file that begins like a failed file would fail, too, so no decoder
/// is started for it. A gallery may contain ten thousand such photos.
struct MissingLibraries {
    private var failures: [[UInt8]: DecodeFailure] = [:]

    /// The number of bytes that identify a format. A HEIF file's brand ends with byte 12.
    private static let length = 12
    /// The maximum number of beginnings to remember. In some formats the first bytes differ between files, so their
    /// number would otherwise grow without end.
    private static let most = 64

    /// Returns the known reason why an open file cannot be decoded. Returns nil if none is known.
    func failure(of file: Int32) -> DecodeFailure? {
        failures.isEmpty ? nil : Self.beginning(file).flatMap { failures[$0] }
    }

    /// Records the reason if a file could not be decoded because a library is missing.
    mutating func record(_ error: PictureError, of file: Int32) {
        guard error.isMissingLibrary, case .undecodable(let failure) = error, failures.count < Self.most,
            let beginning = Self.beginning(file)
        else { return }
        failures[beginning] = failure
    }

    private static func beginning(_ file: Int32) -> [UInt8]? {
        let bytes = try? OpenFile.beginning(of: file, count: length)
        return bytes?.count == length ? bytes : nil
    }
}
