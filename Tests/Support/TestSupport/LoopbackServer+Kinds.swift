import Foundation

extension LoopbackServer {
    /// nginx with everything that galleries use: open files, a password (`me`, `s3cret`) under `/basic/`, a token
    /// (`t0ken`) under `/bearer/`, compression on request, and HTTP/2 over TLS if it has a certificate.
    ///
    /// - Parameters:
    ///   - clients: the authority of client certificates; nil if none are needed.
    ///   - requests: the number of requests per connection.
    public static func nginx(
        _ pair: TestAuthority.Pair? = nil, clients: TestAuthority? = nil, requests: Int = 1_000,
        files: [String: [UInt8]]
    ) throws -> LoopbackServer {
        let known = clients.map { "; ssl_verify_client on; ssl_client_certificate \($0.certificate)" } ?? ""
        var all = files
        all["passwords"] = Array("me:{PLAIN}s3cret\n".utf8)
        return try nginx(
            listening: pair.map { " ssl http2; \($0.directives)\(known)" } ?? "",
            settings: """
                keepalive_requests \(requests);
                types { text/xml xml; image/jpeg jpg; video/mp4 mp4; }
                gzip on;
                gzip_types text/xml;
                gzip_min_length 1;
                map $http_authorization $is_known { default 0; "Bearer t0ken" 1; }
                """,
            answers: """
                root FOLDER;
                location /basic/ {
                    alias FOLDER/;
                    auth_basic "photos";
                    auth_basic_user_file FOLDER/passwords;
                }
                location /bearer/ {
                    # RFC 9110, section 11.6.1: who answers 401 "MUST send" what it wants to be told.
                    if ($is_known = 0) { add_header WWW-Authenticate 'Bearer realm="photos"' always; return 401; }
                    alias FOLDER/;
                }
                """,
            files: all)
    }

    /// nginx over TLS that redirects every request with a certain status.
    public static func nginx(
        leadingTo url: String, by status: Int = 302, _ pair: TestAuthority.Pair
    ) throws -> LoopbackServer {
        try nginx(listening: " ssl; \(pair.directives)", answers: "return \(status) \(url);")
    }

    /// nginx over HTTP/2 that passes every request on to a server.
    ///
    /// - Parameter port: a certain port; 0 for any free one.
    public static func nginx(
        passingTo server: ScriptedServer, _ pair: TestAuthority.Pair, port: Int = 0
    ) throws -> LoopbackServer {
        try nginx(
            listening: " ssl http2; \(pair.directives)", settings: "client_max_body_size 0;",
            answers: "location / { proxy_pass http://127.0.0.1:\(server.port); proxy_http_version 1.1; }", port: port)
    }

    /// - Parameters:
    ///   - listening: the options after the port.
    ///   - settings: the settings of the server.
    ///   - answers: the handling of requests.
    ///   - port: a certain port; 0 for any free one.
    private static func nginx(
        listening: String, settings: String = "", answers: String, files: [String: [UInt8]] = [:], port: Int = 0
    ) throws -> LoopbackServer {
        try LoopbackServer(
            "/usr/sbin/nginx", ["-p", "/tmp/", "-e", "stderr", "-c"],
            configuration: """
                daemon off;
                master_process off;
                pid FOLDER/nginx.pid;
                error_log stderr;
                events { worker_connections 256; }
                http {
                    access_log off;
                    client_body_temp_path FOLDER/body;
                    proxy_temp_path FOLDER/proxy;
                    fastcgi_temp_path FOLDER/fastcgi;
                    uwsgi_temp_path FOLDER/uwsgi;
                    scgi_temp_path FOLDER/scgi;
                    \(settings)
                    server {
                        listen 127.0.0.1:PORT\(listening);
                        \(answers)
                    }
                }
                """,
            files: files, port: port)
    }

    /// Apache with digest authentication (`me`, `s3cret`).
    ///
    /// - Parameter isDAV: whether Apache answers WebDAV requests, compressed on request.
    public static func apache(isDAV: Bool = false, files: [String: [UInt8]]) throws -> LoopbackServer {
        let modules = "/usr/lib/apache2/modules"
        var all = files
        // The digest of "me:photos:s3cret".
        all["passwords"] = Array("me:photos:\(try MD5.text(of: "me:photos:s3cret"))\n".utf8)
        // As root it requires a user to change to; other users cannot change.
        let user = getuid() == 0 ? "User www-data\nGroup www-data" : ""
        return try LoopbackServer(
            // One process, which can be killed alone.
            "/usr/sbin/apache2", ["-X", "-f"],
            configuration: """
                ServerRoot FOLDER
                ServerName 127.0.0.1
                PidFile FOLDER/apache.pid
                DefaultRuntimeDir FOLDER
                ErrorLog FOLDER/errors
                Listen 127.0.0.1:PORT
                LoadModule mpm_event_module \(modules)/mod_mpm_event.so
                LoadModule authn_core_module \(modules)/mod_authn_core.so
                LoadModule authn_file_module \(modules)/mod_authn_file.so
                LoadModule authz_core_module \(modules)/mod_authz_core.so
                LoadModule authz_user_module \(modules)/mod_authz_user.so
                LoadModule auth_digest_module \(modules)/mod_auth_digest.so
                DocumentRoot FOLDER
                \(isDAV ? dav(modules) : "")
                \(user)
                StartServers 1
                ThreadsPerChild 8
                ServerLimit 1
                MaxRequestWorkers 8
                <Location "/">
                    AuthType Digest
                    AuthName "photos"
                    AuthUserFile FOLDER/passwords
                    Require valid-user
                </Location>
                """,
            files: all)
    }

    private static func dav(_ modules: String) -> String {
        """
        LoadModule dav_module \(modules)/mod_dav.so
        LoadModule dav_fs_module \(modules)/mod_dav_fs.so
        LoadModule filter_module \(modules)/mod_filter.so
        LoadModule deflate_module \(modules)/mod_deflate.so
        DavLockDB FOLDER/locks
        <Location "/">
            Dav On
            SetOutputFilter DEFLATE
        </Location>
        """
    }

    /// tinyproxy, optionally with a password (`me`, `s3cret`).
    public static func tinyproxy(wantsPassword: Bool) throws -> LoopbackServer {
        try LoopbackServer(
            "/usr/bin/tinyproxy", ["-d", "-c"],
            configuration: """
                Port PORT
                Listen 127.0.0.1
                Timeout 60
                LogLevel Critical
                MaxClients 32
                Allow 127.0.0.1
                \(wantsPassword ? "BasicAuth me s3cret" : "")
                """)
    }
}

extension TestAuthority.Pair {
    /// The directives for nginx.
    fileprivate var directives: String { "ssl_certificate \(certificate); ssl_certificate_key \(key)" }
}
