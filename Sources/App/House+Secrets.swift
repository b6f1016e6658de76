import Cache
import Logging
import Secrets
import Settings

extension House {
    /// Who asks for what, with what the user wants kept between runs. Nothing is read before a server wants to know.
    static func credentials(_ locations: Locations, _ log: Log) -> CredentialStore {
        let chest = SecretChest(file: SecretFile(path: locations.passwordsFile), keyring: Keyring()) { trouble in
            log.error(.network, "\(trouble)")
        }
        return CredentialStore(
            keeping: CredentialKeeping(
                lookUp: { await chest.signIn(for: $0) },
                keep: { signIn, place, keeping in
                    do {
                        try await chest.keep(signIn, for: place, in: keeping)
                        return nil
                    } catch {
                        return "\(error)"
                    }
                }))
    }
}
