import Dispatch
import Model

/// All that keeps passwords between runs: the file, and the keyring.
public struct SecretStore: Sendable {
    private let file: SecretFile
    private let keyring: Keyring
    private let queue = DispatchQueue(label: "vitrine.passwords")
    private let onTrouble: @Sendable (SecretError) -> Void

    /// Puts the two together.
    ///
    /// - Parameter onTrouble: hears why one of them cannot be asked. That a keyring is not there at all is no trouble.
    public init(file: SecretFile, keyring: Keyring, onTrouble: @escaping @Sendable (SecretError) -> Void) {
        self.file = file
        self.keyring = keyring
        self.onTrouble = onTrouble
    }

    /// Looks for what was kept, in the file first; nil if there is nothing.
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

    /// Keeps something.
    public func keep(_ signIn: SignIn, for place: SignInPlace, in keeping: SignInKeeping) async throws(SecretError) {
        switch keeping {
        case .session: break
        case .file: try await onQueue { () throws(SecretError) in try file.keep(signIn, for: place) }
        case .keyring: try await keyring.keep(signIn, for: place)
        }
    }

    /// The disk may take its time, and nobody's thread waits for it.
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

/// Why a password cannot be kept, or looked for.
public enum SecretError: Error, Equatable, CustomStringConvertible {
    /// The library that speaks with keyrings is not there.
    case noKeyring
    /// The keyring has refused; its own words.
    case refused(String)
    /// The keyring has not answered in time.
    case silent
    /// The file is a link, somebody else's, or open to others.
    case notPrivate(path: String)
    /// The file cannot be read or written; the system's reason.
    case file(path: String, reason: String)

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .noKeyring: "There is no keyring: libsecret is not installed."
        case .refused(let reason): "The keyring refuses: \(reason.hasSuffix(".") ? reason : reason + ".")"
        case .silent: "The keyring does not answer."
        case .notPrivate(let path):
            "\(path) is not yours alone: it must be a file that you own and nobody else can read."
        case .file(let path, let reason): "\(path): \(reason)."
        }
    }
}
