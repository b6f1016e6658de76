import Model

/// The user's access keys and storage service, from environment and files.
///
/// Variables and files have the form that Amazon's programs use. The files are `~/.aws/credentials` and
/// `~/.aws/config`. Vitrine reads the default profile, or the one that `AWS_PROFILE` names. Unreadable files count as
/// missing.
public struct AccessKeyFiles: Sendable {
    private let credentialsFile: String
    private let configFile: String
    private let profile: String
    private let key: AccessKey?
    private let endpoint: BucketService.Endpoint?
    private let region: String?

    /// Reads the environment.
    ///
    /// - Parameter variable: looks up an environment variable.
    public init(home: String, _ variable: (String) -> String?) {
        func value(_ names: String...) -> String? { names.lazy.compactMap(variable).first { !$0.isEmpty } }
        credentialsFile = value("AWS_SHARED_CREDENTIALS_FILE") ?? home + "/.aws/credentials"
        configFile = value("AWS_CONFIG_FILE") ?? home + "/.aws/config"
        profile = value("AWS_PROFILE") ?? "default"
        func service(_ name: String) -> BucketService.Endpoint? {
            value(name).map { BucketService.Endpoint($0, source: name) }
        }
        endpoint = service("AWS_ENDPOINT_URL_S3") ?? service("AWS_ENDPOINT_URL")
        region = value("AWS_REGION", "AWS_DEFAULT_REGION")
        key = Self.key(
            value("AWS_ACCESS_KEY_ID"), value("AWS_SECRET_ACCESS_KEY"), value("AWS_SESSION_TOKEN"), region)
    }

    /// Returns the user's access keys for the service at an origin.
    ///
    /// Only the service for `s3://` addresses gets the keys. Another server could imitate a storage service, and
    /// forward Vitrine's signed request to the right service. No service gets the keys if the endpoint is invalid.
    public func keys(for origin: Origin) -> [AccessKey] {
        switch service().endpoint {
        case .amazon: origin.scheme == .https && AmazonHost(origin.host) != nil ? keys() : []
        case .server(let address): address.origin == origin ? keys() : []
        case .invalid: []
        }
    }

    /// Returns the user's access keys. The key of the environment comes first.
    func keys() -> [AccessKey] {
        let (secrets, settings) = (section(profile, of: credentialsFile), settings())
        let region = region ?? settings["region"]
        let kept = [secrets, settings].lazy.compactMap {
            Self.key($0["aws_access_key_id"], $0["aws_secret_access_key"], $0["aws_session_token"], region)
        }
        let first = key.map { self.region == nil ? $0.with(region: region) : $0 }
        return [first, kept.first].compactMap { $0 }
    }

    /// Returns the storage service for `s3://` addresses.
    public func service() -> BucketService {
        if let endpoint, let region { return BucketService(endpoint: endpoint, region: region) }
        let settings = settings()
        let kept = settings["endpoint_url"].map { BucketService.Endpoint($0, source: configFile) }
        return BucketService(endpoint: endpoint ?? kept ?? .amazon, region: region ?? settings["region"])
    }

    private static func key(_ id: String?, _ secret: String?, _ token: String?, _ region: String?) -> AccessKey? {
        guard let id, let secret else { return nil }
        return AccessKey(id: id, secret: secret, sessionToken: token, region: region)
    }

    private func settings() -> [String: String] {
        section(profile == "default" ? "default" : "profile " + profile, of: configFile)
    }

    /// Returns the values in a section of a file. Skips indented lines, because they belong to values that Vitrine does
    /// not use.
    private func section(_ name: String, of path: String) -> [String: String] {
        guard let text = try? PrivateFile.read(path) else { return [:] }
        var values: [String: String] = [:]
        var isInSection = false
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") {
                let title = line.dropFirst().prefix { $0 != "]" }.split(whereSeparator: \.isWhitespace)
                isInSection = title.joined(separator: " ") == name
            } else if isInSection, let mark = line.firstIndex(of: "="), let first = line.first, !first.isWhitespace,
                first != "#", first != ";"
            {
                let key = line[..<mark].split(whereSeparator: \.isWhitespace).joined().lowercased()
                let value = line[line.index(after: mark)...].drop(while: \.isWhitespace)
                values[key] = String(value.reversed().drop(while: \.isWhitespace).reversed())
            }
        }
        return values.filter { !$0.value.isEmpty }
    }
}
