import Model
import Synchronization

/// Who asks for a gallery, as it stood in the address that the user typed. Kept in memory for as long as the program runs,
/// and nowhere else: the database and the list of galleries hold addresses without.
final class GalleryCredentials: Sendable {
    private let latest: Mutex<Address.Credentials?>

    init(_ credentials: Address.Credentials?) {
        latest = Mutex(credentials)
    }

    /// Takes those of an address that was typed later, if it has any.
    func take(_ credentials: Address.Credentials?) {
        if let credentials { latest.withLock { $0 = credentials } }
    }

    var current: Address.Credentials? { latest.withLock { $0 } }
}
