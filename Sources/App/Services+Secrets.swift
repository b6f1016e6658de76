import Cache
import Session
import Logging
import Secrets
import Settings

extension Services {
    /// Who asks for what, with what the user wants kept between runs. Nothing is read before a server wants to know.
    static func credentials(_ locations: Locations, _ log: Log) -> CredentialStore {
        let secretStore = SecretStore(file: SecretFile(path: locations.passwordsFile), keyring: Keyring()) { trouble in
            log.error(.network, "\(trouble)")
        }
        return CredentialStore(
            keeping: CredentialKeeping(
                lookUp: { await secretStore.signIn(for: $0) },
                keep: { signIn, place, keeping in
                    do {
                        try await secretStore.keep(signIn, for: place, in: keeping)
                        return nil
                    } catch {
                        return "\(error)"
                    }
                }))
    }
}
