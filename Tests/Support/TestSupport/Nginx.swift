import Foundation
import Synchronization

/// A real web server on loopback for a folder. It can be stopped and restarted on the same port.
public final class Nginx: Sendable {
    /// The port.
    public let port: Int
    private let root: String
    private let folder = TestFolder()
    private let process = Mutex<ChildProcess?>(nil)

    /// Serves a folder.
    ///
    /// - Parameters:
    ///   - listsFolders: whether the server lists the files of a folder.
    ///   - users: passwords by user; without any, the folder is public.
    public init(
        serving root: String, listsFolders: Bool = false, users: [String: String] = [:], realm: String = "photos"
    ) throws {
        self.root = root
        port = try Self.freePort()
        folder.write("users", users.map { "\($0.key):{PLAIN}\($0.value)\n" }.joined())
        let isClosed = users.isEmpty ? "" : "auth_basic \"\(realm)\"; auth_basic_user_file \(folder.path("users"));"
        folder.write(
            "nginx.conf",
            """
            daemon off;
            master_process off;
            pid nginx.pid;
            error_log error.log;
            events { worker_connections 256; }
            http {
                access_log access.log;
                types { text/xml xml; image/jpeg jpg; image/png png; video/mp4 mp4; }
                client_body_temp_path body;
                proxy_temp_path proxy;
                fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi;
                scgi_temp_path scgi;
                server { listen 127.0.0.1:\(port); root \(root); autoindex \(listsFolders ? "on" : "off"); \(isClosed) }
            }
            """)
        try start()
    }

    deinit {
        stop()
    }

    /// The URL of a path.
    public func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Starts the server. It listens when this returns.
    public func start() throws {
        let server = try ChildProcess("/usr/sbin/nginx", ["-p", folder.path + "/", "-c", folder.path("nginx.conf")])
        process.withLock { $0 = server }
        // Until it has bound its port, requests are refused and repeated.
        for _ in 0..<1_000 {
            if try Command("/usr/bin/curl", ["-s", "-o", "/dev/null", url("/marker-start")]).status == 0 { return }
        }
        throw NginxError(folder: folder.path)
    }

    /// Stops the server. Nothing listens when this returns.
    public func stop() {
        process.withLock { process in
            process?.end()
            process = nil
        }
    }

    /// The paths requested so far, in the order of the answers.
    ///
    /// The log is written after an answer. So a last request is made and awaited before the log is read.
    public func paths() throws -> [String] {
        let marker = "/marker-\(UUID().uuidString)"
        _ = try Command("/usr/bin/curl", ["-s", "-o", "/dev/null", url(marker)])
        while true {
            let log = (try? String(contentsOfFile: folder.path("access.log"), encoding: .utf8)) ?? ""
            let paths = log.split(separator: "\n").compactMap { line -> String? in
                let parts = line.split(separator: "\"")
                guard parts.count > 1 else { return nil }
                let request = parts[1].split(separator: " ")
                return request.count > 1 ? String(request[1]) : nil
            }
            if let end = paths.firstIndex(of: marker) { return paths[..<end].filter { !$0.hasPrefix("/marker-") } }
        }
    }

    private struct NginxError: Error {
        let folder: String
    }

    private static func freePort() throws -> Int {
        let probe = try ScriptedServer { _ in [] }
        defer { probe.stop() }
        return probe.port
    }
}
