extension Address {
    /// The same address, asked for by somebody else.
    public func with(_ credentials: Credentials?) -> Address {
        Address(scheme: scheme, host: host, port: port, path: path, query: query, credentials: credentials)
    }
}
