import Foundation
import Synchronization
import TestSupport

/// A server of folders in memory, which tests change while it runs.
final class ListedServer: Sendable {
    /// The form of the lists.
    enum Form: Sendable {
        /// Links, as nginx writes them.
        case html
        /// WebDAV, with validators of folders that change with everything below them if `isClimbing`.
        case webDAV(isClimbing: Bool)
    }

    /// The contents of all files, by path below the root.
    let files: Mutex<[String: String]>
    /// Answers in place of a folder's list, by path of the folder: empty, or with a slash at its end.
    let answers = Mutex<[String: [ScriptedServer.Step]]>([:])
    /// Folders that are links to other folders, by path.
    let links = Mutex<[String: String]>([:])
    /// The headers of lists, by path of the folder.
    let headers = Mutex<[String: String]>([:])
    /// The number of folders to serve, and the answer after them. The root does not count. Nil means no limit.
    let quota = Mutex<(left: Int, refusal: [ScriptedServer.Step])?>(nil)
    private let form: Form
    private let server: Mutex<ScriptedServer?>

    init(_ form: Form, _ files: [String]) throws {
        self.form = form
        self.files = Mutex(Dictionary(uniqueKeysWithValues: files.map { ($0, "first") }))
        server = Mutex(nil)
        let started = try ScriptedServer { [weak self] in self?.answer($0) ?? [.close] }
        server.withLock { $0 = started }
    }

    deinit { server.withLock { $0?.stop() } }

    /// The address of the root.
    var url: String { server.withLock { $0?.url("/photos/") ?? "" } }

    /// The requests so far, such as `GET /photos/`.
    var requests: [String] {
        server.withLock { $0?.requests.map { "\($0.method) \($0.path.removingPercentEncoding ?? "")" } ?? [] }
    }

    /// Refuses connections, and resets the open ones.
    func interrupt() { server.withLock { $0?.interrupt() } }

    private func answer(_ request: ScriptedServer.Request) -> [ScriptedServer.Step] {
        guard let path = request.path.removingPercentEncoding, path.hasPrefix("/photos/") else {
            return .answer(404, "not here")
        }
        var folder = String(path.dropFirst("/photos/".count))
        if !folder.isEmpty, let refusal = refusal() { return refusal }
        if let answer = answers.withLock({ $0[folder] }) { return answer }
        if let target = links.withLock({ $0.first { folder.hasPrefix($0.key) } }) {
            while folder.hasPrefix(target.key) { folder = target.value + folder.dropFirst(target.key.count) }
        }
        guard folder.isEmpty || folder.hasSuffix("/") else { return .answer(404, "not here") }
        switch (form, request.method) {
        case (.html, "GET"):
            let etag = tag(folder)
            if request.headers["if-none-match"] == etag { return .answer(304) }
            let header = headers.withLock { $0[folder] }.map { _ in "ETag: \(etag)" }
            return .answer(200, html(folder), headers: ["Content-Type: text/html"] + [header].compactMap { $0 })
        case (.webDAV, "PROPFIND"):
            return .answer(
                207, multistatus(folder, isAlone: request.headers["depth"] == "0"),
                headers: ["Content-Type: application/xml; charset=utf-8"])
        default: return .answer(405, "not allowed")
        }
    }

    /// Counts a request. Returns the answer if the quota is used up.
    private func refusal() -> [ScriptedServer.Step]? {
        quota.withLock { quota in
            guard let (left, refusal) = quota else { return nil }
            quota = (max(0, left - 1), refusal)
            return left > 0 ? nil : refusal
        }
    }

    /// The names of the folders and files directly in a folder.
    private func names(_ folder: String) -> (folders: [String], files: [String]) {
        let rest = files.withLock { $0.keys.filter { $0.hasPrefix(folder) }.map { $0.dropFirst(folder.count) } }
        let linked = links.withLock { $0.keys.filter { $0.hasPrefix(folder) }.map { $0.dropFirst(folder.count) } }
        let parts = (rest + linked).map { $0.split(separator: "/", omittingEmptySubsequences: false) }
        let folders = Set(parts.filter { $0.count > 1 }.map { String($0[0]) })
        return (folders.sorted(), parts.filter { $0.count == 1 }.map { String($0[0]) }.sorted())
    }

    /// A validator of a file, or of a folder and everything below it.
    private func tag(_ path: String) -> String {
        let below = files.withLock { files in files.filter { $0.key.hasPrefix(path) }.sorted { $0.key < $1.key } }
        return
            "\"\(below.map { "\($0.key)=\($0.value)" }.joined(separator: "&").utf8.reduce(7) { $0 &* 31 &+ Int($1) })\""
    }

    private func encoded(_ name: String) -> String {
        name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    private func html(_ folder: String) -> String {
        let (folders, files) = names(folder)
        let links =
            folders.map { "<a href=\"\(encoded($0))/\">\($0)/</a>   25-Nov-2026 21:00  -" }
            + files.map { name in
                let text = self.files.withLock { $0[folder + name] ?? "" }
                return "<a href=\"\(encoded(name))\">\(name)</a>   25-Nov-2026 21:00  \(text.utf8.count)"
            }
        return "<html><head><title>Index of /</title></head><body><pre><a href=\"../\">../</a>\r\n"
            + links.joined(separator: "\r\n") + "\r\n</pre></body></html>"
    }

    private func multistatus(_ folder: String, isAlone: Bool) -> String {
        let (folders, files) = isAlone ? ([], []) : names(folder)
        let path = "/photos/" + folder.split(separator: "/").map { encoded(String($0)) + "/" }.joined()
        var isClimbing = false
        if case .webDAV(true) = form { isClimbing = true }
        func response(_ href: String, _ path: String, isFolder: Bool) -> String {
            let etag = isFolder && !isClimbing ? "" : "<d:getetag>\(tag(path))</d:getetag>"
            let kind = isFolder ? "<d:collection/>" : ""
            return """
                <d:response><d:href>\(href)</d:href><d:propstat><d:prop>\(etag)\
                <d:getlastmodified>Wed, 25 Nov 2026 21:00:00 GMT</d:getlastmodified>\
                <d:resourcetype>\(kind)</d:resourcetype></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>\
                </d:response>
                """
        }
        let responses =
            [response(path, folder, isFolder: true)]
            + folders.map { response(path + encoded($0) + "/", folder + $0 + "/", isFolder: true) }
            + files.map { response(path + encoded($0), folder + $0, isFolder: false) }
        return "<?xml version=\"1.0\"?><d:multistatus xmlns:d=\"DAV:\">\(responses.joined())</d:multistatus>"
    }
}
