import Dispatch
import Model

/// Looks up and stores passwords in the password file and the keyring.
public struct SecretStore: Sendable {
    private let file: SecretFile
    private let keyring: Keyring
    private let queue = DispatchQueue(label: "vitrine.passwords")
    private let onTrouble: @Sendable (SecretError) -> Void

    /// Creates a store from a password file and a keyring.
    ///
    /// - Parameter onTrouble: receives the errors of lookups in the file and the keyring. A missing keyring is not an
    ///   error.
    public init(file: SecretFile, keyring: Keyring, onTrouble: @escaping @Sendable (SecretError) -> Void) {
        self.file = file
        self.keyring = keyring
        self.onTrouble = onTrouble
    }

    /// Returns the stored sign-in; the file has precedence over the keyring. Returns nil if neither has a sign-in.
    public func signIn(for place: SignInPlace) async -> SignIn? {
        do throws(SecretError) {
            let found = try await onQueue { () throws(SecretError) in try file.signIn(for: place) }
            if let found { return found }
        } catch {
            onTrouble(error)
        }
        do throws(SecretError) {
            return try await keyring.signIn(for: place)
        } catch {
            if error != .noKeyring { onTrouble(error) }
            return nil
        }
    }

    /// Stores a sign-in in the file or keyring, as the user chose. For `.session`, stores nothing.
    public func keep(_ signIn: SignIn, for place: SignInPlace, in keeping: SignInKeeping) async throws(SecretError) {
        switch keeping {
        case .session: break
        case .file: try await onQueue { () throws(SecretError) in try file.keep(signIn, for: place) }
        case .keyring:
            try await keyring.keep(signIn, for: place)
            // The file has precedence, so an older sign-in must not stay there.
            do throws(SecretError) {
                try await onQueue { () throws(SecretError) in try file.remove(place) }
            } catch {
                // The keyring has the sign-in. Vitrine refuses to read a file that others may read.
                guard case .notPrivate = error else { throw error }
                onTrouble(error)
            }
        }
    }

    /// Runs blocking file access on a separate queue.
    private func onQueue<Value: Sendable>(
        _ body: @escaping @Sendable () throws(SecretError) -> Value
    ) async throws(SecretError) -> Value {
        let result: Result<Value, SecretError> = await withCheckedContinuation { continuation in
            queue.async {
                do throws(SecretError) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}

/// An error while storing or looking up a password.
public enum SecretError: Error, Equatable, CustomStringConvertible {
    /// The keyring library is not installed.
    case noKeyring
    /// The keyring refused the request with this message.
    case refused(String)
    /// The keyring did not answer in time.
    case silent
    /// The file is a link, has another owner, or is readable by others.
    case notPrivate(path: String)
    /// The system cannot read or write the file, for this reason.
    case file(path: String, reason: String)

    /// The error as a sentence for the user.
    public var description: String {
        switch self {
        case .noKeyring: "No keyring is available: libsecret is not installed."
        case .refused(let reason): "The keyring refused the request: \(reason.hasSuffix(".") ? reason : reason + ".")"
        case .silent: "The keyring did not answer in time."
        case .notPrivate(let path):
            "\(path) must be a regular file that only you can read."
        case .file(let path, let reason): "\(path): \(reason)."
        }
    }
}
