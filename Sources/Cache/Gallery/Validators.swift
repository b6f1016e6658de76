/// What a server said by which it can tell later that nothing has changed.
public struct Validators: Hashable, Sendable {
    /// The `ETag` header, quotes and all.
    public var etag: String?
    /// The `Last-Modified` header, as it came.
    public var lastModified: String?

    /// Puts them together; a server may send both, one or neither.
    public init(etag: String? = nil, lastModified: String? = nil) {
        self.etag = etag
        self.lastModified = lastModified
    }
}
