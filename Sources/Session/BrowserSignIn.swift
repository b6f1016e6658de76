import Concurrency
import Model

/// A sign-in that the user makes with the browser.
///
/// The screen starts one in the ``Activity`` and states it in the ``Wishes``. The network asks the server for a page,
/// waits until the user has signed in there, and sets each ``Stage`` in the activity.
public struct BrowserSignIn: Hashable, Sendable {
    /// The number of the sign-in in this run of the program.
    let number: Int
    /// The address below which the server has its sign-in pages.
    public let server: Address
    /// The galleries whose requests need the sign-in.
    public let galleries: Set<GalleryID>

    /// The progress of a sign-in.
    public enum Stage: Hashable, Sendable {
        /// The server has not named its page yet.
        case starting
        /// The user can open the server's page at this address.
        case waiting(Address)
        /// The user has signed in, and the server made these credentials.
        case granted(SignIn)
        /// The sign-in failed.
        case failed(Failure)
    }
}

/// The sign-in with the browser that a screen wants now.
public struct BrowserSignInWish: Coalescing, Equatable {
    /// The sign-in; nil for none.
    public var signIn: BrowserSignIn?

    /// Replaces this wish by the later wish.
    public mutating func merge(_ later: BrowserSignInWish) {
        self = later
    }
}
