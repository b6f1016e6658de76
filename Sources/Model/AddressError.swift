/// Why a text is not an address that Vitrine goes to.
public enum AddressError: Error, Equatable, CustomStringConvertible {
    /// There is nothing there.
    case empty
    /// More characters than any server takes.
    case tooLong
    /// A control character or a line break, which could end a request's line early.
    case controlCharacter
    /// A scheme that is not fetched: `ftp:`, `javascript:` and the like.
    case scheme(String)
    /// An `http` or `https` address without a host.
    case noHost
    /// A host with characters that no host has.
    case host(String)
    /// A port that is no number from 1 to 65535.
    case port(String)
    /// A relative reference where a whole address is needed.
    case relative(String)

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .empty: "The address is empty."
        case .tooLong: "The address is longer than \(Address.maximumLength) characters."
        case .controlCharacter: "The address contains a control character."
        case .scheme(let scheme): "\(scheme): addresses are not supported; use http, https, file or a path."
        case .noHost: "The address names no host."
        case .host(let host): "“\(host)” is not a valid host name."
        case .port(let port): "“\(port)” is not a valid port."
        case .relative(let text): "“\(text)” is not a whole address."
        }
    }
}
