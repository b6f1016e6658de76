/// A proxy that wants to know who asks.
public struct ProxyRefusal: Hashable, Sendable {
    /// Its scheme, host and port.
    public let proxy: String
    /// Whether it was told something, which does not satisfy it.
    public let wasTold: Bool

    /// States it.
    public init(proxy: String, wasTold: Bool) {
        self.proxy = proxy
        self.wasTold = wasTold
    }
}
