import Foundation
import Synchronization
import TestSupport

/// A storage service in memory with a bucket `photos`. Tests change its behaviour.
final class StandInBucket: Sendable {
    /// The behaviour of the service.
    struct Rules: Sendable {
        /// The keys of all objects.
        var keys: [String] = []
        /// The texts of objects that are no photos, by key.
        var texts: [String: String] = [:]
        /// The most entries of a page.
        var pageSize = 2
        /// The id of the access key that every request needs; nil for none.
        var key: String?
        /// The region that each signature must name; nil for any.
        var region: String?
        /// Whether the key may not list the bucket.
        var isUnlisted = false
        /// Answers that replace the service's, by page token; empty for the first page.
        var pages: [String: [ScriptedServer.Step]] = [:]
    }

    let rules: Mutex<Rules>
    private let server: Mutex<ScriptedServer?>

    init(_ rules: Rules) throws {
        self.rules = Mutex(rules)
        server = Mutex(nil)
        let started = try ScriptedServer { [weak self] in self?.answer($0) ?? [.close] }
        server.withLock { $0 = started }
    }

    deinit { server.withLock { $0?.stop() } }

    /// Returns the URL of a path.
    func url(_ path: String = "/photos/") -> String { server.withLock { $0?.url(path) ?? "" } }

    /// The requests so far.
    var requests: [ScriptedServer.Request] { server.withLock { $0?.requests ?? [] } }

    /// Returns the answer of a service that refuses.
    static func refusal(_ status: Int, _ code: String, _ more: String = "") -> [ScriptedServer.Step] {
        .answer(
            status, "<?xml version=\"1.0\"?>\n<Error><Code>\(code)</Code>\(more)</Error>",
            headers: ["Content-Type: application/xml", "x-amz-request-id: 1"])
    }

    private func answer(_ request: ScriptedServer.Request) -> [ScriptedServer.Step] {
        let rules = rules.withLock { $0 }
        let parts = request.path.split(separator: "?", maxSplits: 1).map(String.init)
        let path = parts.first?.removingPercentEncoding ?? ""
        if let key = rules.key {
            guard let signature = request.headers["authorization"] else {
                return Self.refusal(403, "AccessDenied")
            }
            guard signature.contains("Credential=\(key)/") else { return Self.refusal(403, "InvalidAccessKeyId") }
        }
        if let region = rules.region, request.headers["authorization"]?.contains("/\(region)/s3/") == false {
            return Self.refusal(400, "AuthorizationHeaderMalformed", "<Region>\(region)</Region>")
        }
        guard path.hasPrefix("/photos/") else { return Self.refusal(404, "NoSuchBucket") }
        let key = String(path.dropFirst("/photos/".count))
        guard key.isEmpty else {
            if let text = rules.texts[key] {
                let etag = "\"\(text.utf8.count)\""
                if request.headers["if-none-match"] == etag { return .answer(304) }
                return .answer(200, text, headers: ["ETag: \(etag)"])
            }
            guard rules.keys.contains(key) else { return Self.refusal(404, "NoSuchKey") }
            return .answer(200, NetworkTest.picture(key), headers: ["Content-Type: image/jpeg"])
        }
        if rules.isUnlisted { return Self.refusal(403, "AccessDenied") }
        let fields = (parts.count > 1 ? parts[1] : "").split(separator: "&").map {
            $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        }
        let query = Dictionary(fields.map { ($0[0], $0.last?.removingPercentEncoding ?? "") }) { first, _ in first }
        return list(rules, query)
    }

    private func list(_ rules: Rules, _ query: [String: String]) -> [ScriptedServer.Step] {
        let token = query["continuation-token"] ?? ""
        if let answer = rules.pages[token] { return answer }
        let prefix = query["prefix"] ?? ""
        var entries: [String] = []
        for key in rules.keys.sorted() where key.hasPrefix(prefix) {
            let rest = key.dropFirst(prefix.count)
            let entry = prefix + (rest.firstIndex(of: "/").map { rest[...$0] } ?? rest)
            if entries.last != entry { entries.append(entry) }
        }
        let begin = Int(token) ?? 0
        let page = entries.dropFirst(begin).prefix(rules.pageSize)
        let isTruncated = begin + page.count < entries.count
        return .answer(
            200, Self.page(Array(page), next: isTruncated ? "\(begin + page.count)" : nil),
            headers: ["Content-Type: application/xml"])
    }

    /// Returns a page of a list.
    static func page(_ entries: [String], next: String? = nil) -> String {
        let objects = entries.map { entry in
            let key = entry.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(["/", "."])) ?? ""
            return entry.hasSuffix("/")
                ? "<CommonPrefixes><Prefix>\(key)</Prefix></CommonPrefixes>"
                : """
                <Contents><Key>\(key)</Key><LastModified>2026-11-25T21:00:00.000Z</LastModified>\
                <ETag>"\(entry.utf8.count)"</ETag><Size>9</Size></Contents>
                """
        }
        let more = next.map { "<NextContinuationToken>\($0)</NextContinuationToken>" } ?? ""
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><EncodingType>url</EncodingType>\
            <IsTruncated>\(next != nil)</IsTruncated>\(more)\(objects.joined())</ListBucketResult>
            """
    }
}
