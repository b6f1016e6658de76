import Formats
import HTTP
import Model

/// A folder in a bucket of a storage service. Makes the addresses of its lists.
///
///     let bucket = Bucket(Address("https://example.org/photos/2024/"), isInPath: true)
///     bucket?.list()      // https://example.org/photos/?delimiter=%2F&encoding-type=url&list-type=2&prefix=2024%2F
struct Bucket: Hashable, Sendable {
    /// The address of the bucket, with a slash at its end.
    private let base: Address
    /// The decoded prefix of all keys in the folder. The prefix is empty or ends with a slash.
    let prefix: [UInt8]

    /// Finds the bucket that an address of a folder names. Returns nil if the address names no bucket.
    ///
    /// - Parameter isInPath: whether the bucket's name is the first part of the path. Otherwise it is in the host's
    ///   name.
    init?(_ folder: Address, isInPath: Bool) {
        if let bucket = Bucket(list: folder) {
            self = bucket
            return
        }
        let parts = folder.path.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) }
        guard !isInPath || !parts.isEmpty,
            let base = try? folder.resolving(isInPath ? "/\(parts[0])/" : "/")
        else { return nil }
        let keys = parts.dropFirst(isInPath ? 1 : 0)
        self.base = base
        prefix = keys.flatMap { PercentEncoding.decodedBytes(String($0)) + [UInt8(ascii: "/")] }
    }

    /// Reads the bucket and folder from the address of a list. Returns nil for other addresses.
    init?(list: Address) {
        guard let query = list.query else { return nil }
        let fields = query.split(separator: "&")
        func value(_ name: String) -> String? {
            fields.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
        }
        guard let text = value("prefix") else { return nil }
        var prefix = PercentEncoding.decodedBytes(text)
        if let last = prefix.last, last != UInt8(ascii: "/") { prefix.append(UInt8(ascii: "/")) }
        (base, self.prefix) = (list.asFolder, prefix)
    }

    /// The address of the folder, below which the photos are.
    var root: Address {
        (try? base.resolving("./" + PercentEncoding.encode(prefix, keepingEscapes: false, also: "/"))) ?? base
    }

    /// Returns the address of a page of a folder's list. The fields are sorted, because signatures require that.
    ///
    /// - Parameters:
    ///   - path: the decoded path below this folder, with a slash at its end; empty for this folder.
    ///   - token: the token of the page; nil for the first page.
    ///   - isDeep: whether to list the objects of all inner folders too.
    func list(
        of path: [UInt8] = [], page token: String? = nil, isDeep: Bool = false
    ) throws(AddressError) -> Address {
        let page = token.map { "continuation-token=\(PercentEncoding.encodeAll($0.utf8, except: ""))&" } ?? ""
        let prefix = PercentEncoding.encodeAll(prefix + path, except: "")
        let delimiter = isDeep ? "" : "delimiter=%2F&"
        return try base.resolving("?\(page)\(delimiter)encoding-type=url&list-type=2&prefix=\(prefix)")
    }

    /// Returns the address of an object.
    ///
    /// - Parameter name: the decoded key without ``prefix``.
    func object(_ name: some Collection<UInt8>) throws(AddressError) -> Address {
        try base.resolving("./" + PercentEncoding.encodeAll(prefix + name, except: "/"))
    }
}

extension BucketRefusal {
    /// Returns the error that a refusal causes.
    ///
    /// - Parameters:
    ///   - address: the requested address.
    ///   - signIn: the credentials that were sent; nil if none were sent.
    ///   - treatment: the way to treat the refusal, such as asking the user for an access key.
    func error(at address: Address, after signIn: SignIn?, _ treatment: FetchPlan.Refusals) -> RequestError {
        guard case .asked(let isOfBucket) = treatment, let origin = address.origin else { return .bucket(self) }
        var question = SignInQuestion(origin: origin, schemes: [SignInQuestion.signatureScheme])
        question.isOfBucket = isOfBucket
        question.region = region ?? AmazonHost(address.host)?.region
        guard case .accessKey(let key) = signIn else { return wantsKey ? .signIn(question) : .bucket(self) }
        // The service refused only the region, so the key may be right.
        if isOfRegion, region != key.region { return .signIn(question) }
        question.wasRefused = true
        return isOfKey ? .signIn(question) : .bucket(self)
    }

    /// The reason as a sentence for the user. The service's code in it has only letters and digits.
    var reason: String {
        switch code {
        case "NoSuchBucket": "the server has no bucket with this name"
        case "RequestTimeTooSkewed": "the server refuses the access key, because this computer’s clock is wrong"
        case "AccessDenied", "AllAccessDisabled": "the server does not allow this with your access key (\(status))"
        default: "the server answered \(status) (\(code))"
        }
    }
}
