/// Who is told who asks. Proxies are apart from servers: what one hears is no business of the other's.
public enum SignInPlace: Hashable, Sendable {
    /// The servers of an origin.
    case origin(Origin)
    /// A proxy on the way: its scheme, host and port.
    case proxy(String)
}
