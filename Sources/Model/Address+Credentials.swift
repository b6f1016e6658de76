extension Address {
    /// Whether both lie at one origin: the same scheme, host and port (RFC 6454). A password is for one origin only.
    public func hasOrigin(of other: Address) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    /// The same address, asked for by somebody else.
    public func with(_ credentials: Credentials?) -> Address {
        Address(scheme: scheme, host: host, port: port, path: path, query: query, credentials: credentials)
    }
}
