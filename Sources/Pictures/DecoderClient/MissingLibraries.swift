import Glibc
import Pixels

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
