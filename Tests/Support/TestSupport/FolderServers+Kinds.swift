import Foundation

extension FolderServer.Kind {
    /// Files of other packages that the server needs.
    var parts: [String] {
        switch self {
        case .nginxDAV: [Self.nginxModule]
        case .sabreDAV: [Self.sabre + "/Sabre/autoload.php"]
        default: []
        }
    }

    /// Returns how the server is started. `PORT` and `FOLDER` stand for its port and its own folder.
    func launch(serving folder: String) -> FolderServer.Launch {
        switch self {
        case .apacheListing: Self.apache(folder, "autoindex", "IndexOptions FancyIndexing")
        case .apacheDAV: Self.apache(folder, "dav", "DavLockDB FOLDER/locks", each: "Dav On")
        case .nginxHTML: Self.nginx(folder, "autoindex on;")
        case .nginxJSON: Self.nginx(folder, "autoindex on; autoindex_format json;")
        case .nginxXML: Self.nginx(folder, "autoindex on; autoindex_format xml;")
        case .nginxDAV:
            Self.nginx(folder, "dav_ext_methods PROPFIND OPTIONS;", beginning: "load_module \(Self.nginxModule);")
        case .lighttpd: Self.lighttpd(folder)
        case .caddy: Self.caddy(folder)
        case .pythonHTTPServer:
            FolderServer.Launch(
                program: "/usr/bin/python3", arguments: ["-m", "http.server", "-b", "127.0.0.1", "-d", folder, "PORT"],
                log: .lines(file: "words"))
        case .copyparty, .copypartyDAV: Self.copyparty(folder)
        case .rcloneHTTP: Self.rclone(folder, "http")
        case .rcloneDAV: Self.rclone(folder, "webdav")
        case .wsgidav: Self.wsgidav(folder)
        case .sabreDAV: Self.sabreDAV(folder)
        }
    }

    private static let nginxModule = "/usr/lib/nginx/modules/ngx_http_dav_ext_module.so"
    private static let sabre = "/usr/share/php"

    private static func apache(
        _ folder: String, _ module: String, _ settings: String, each: String = ""
    ) -> FolderServer.Launch {
        let modules =
            ["mpm_event", "authn_core", "authz_core", "mime", "dir", module]
            + (module == "dav" ? ["dav_fs"] : [])
        // As root it requires a user to change to; other users cannot change.
        let user = getuid() == 0 ? "User www-data\nGroup www-data" : ""
        return FolderServer.Launch(
            // One process, which can be killed alone.
            program: "/usr/sbin/apache2", arguments: ["-X", "-f"],
            configuration: """
                ServerRoot FOLDER
                ServerName 127.0.0.1
                PidFile FOLDER/apache.pid
                DefaultRuntimeDir FOLDER
                ErrorLog FOLDER/errors
                Listen 127.0.0.1:PORT
                \(modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n"))
                LogFormat "%r" request
                CustomLog FOLDER/requests request
                \(user)
                ThreadsPerChild 8
                MaxRequestWorkers 8
                TypesConfig /dev/null
                AddType image/jpeg .jpg
                DocumentRoot "\(folder)"
                \(settings)
                <Location />
                    Options Indexes
                    \(each)
                </Location>
                """,
            log: .lines(file: "requests"))
    }

    private static func nginx(_ folder: String, _ settings: String, beginning: String = "") -> FolderServer.Launch {
        FolderServer.Launch(
            program: "/usr/sbin/nginx", arguments: ["-p", "FOLDER/", "-e", "FOLDER/errors", "-c"],
            configuration: """
                \(beginning)
                daemon off;
                master_process off;
                pid FOLDER/nginx.pid;
                error_log FOLDER/errors;
                events { worker_connections 256; }
                http {
                    log_format request "$request";
                    access_log FOLDER/requests request;
                    types { image/jpeg jpg; }
                    client_body_temp_path FOLDER/body;
                    proxy_temp_path FOLDER/proxy;
                    fastcgi_temp_path FOLDER/fastcgi;
                    uwsgi_temp_path FOLDER/uwsgi;
                    scgi_temp_path FOLDER/scgi;
                    server { listen 127.0.0.1:PORT; root "\(folder)"; \(settings) }
                }
                """,
            log: .lines(file: "requests"))
    }

    private static func lighttpd(_ folder: String) -> FolderServer.Launch {
        FolderServer.Launch(
            program: "/usr/sbin/lighttpd", arguments: ["-D", "-f"],
            configuration: """
                server.document-root = "\(folder)"
                server.bind = "127.0.0.1"
                server.port = PORT
                server.modules = ("mod_dirlisting")
                dir-listing.activate = "enable"
                mimetype.assign = (".jpg" => "image/jpeg")
                server.errorlog = "FOLDER/requests"
                # Unlike the access log, it is written at once.
                debug.log-request-header = "enable"
                """,
            log: .lines(file: "requests"))
    }

    private static func caddy(_ folder: String) -> FolderServer.Launch {
        FolderServer.Launch(
            program: Built.testServers + "/bin/caddy", arguments: ["run", "--adapter", "caddyfile", "--config"],
            configuration: """
                {
                    admin off
                    auto_https off
                    persist_config off
                    log {
                        output discard
                    }
                }
                http://127.0.0.1:PORT {
                    bind 127.0.0.1
                    root * "\(folder)"
                    file_server browse
                    log {
                        output file FOLDER/requests
                    }
                }
                """,
            log: .json(file: "requests"))
    }

    private static func copyparty(_ folder: String) -> FolderServer.Launch {
        FolderServer.Launch(
            program: "/usr/bin/python3",
            arguments: [
                Built.testServers + "/bin/copyparty", "-q", "-lo", "FOLDER/requests", "-i", "127.0.0.1", "-p", "PORT",
                "-v", folder + "::r", "--hist", "FOLDER/history", "--no-thumb", "--http-only",
            ],
            log: .lines(file: "requests"))
    }

    private static func rclone(_ folder: String, _ protocolName: String) -> FolderServer.Launch {
        FolderServer.Launch(
            program: Built.testServers + "/bin/rclone",
            arguments: [
                "serve", protocolName, folder, "--addr", "127.0.0.1:PORT", "--config", "", "--cache-dir",
                "FOLDER/cache", "--dir-cache-time", "1s", "--read-only", "-q",
            ])
    }

    private static func wsgidav(_ folder: String) -> FolderServer.Launch {
        FolderServer.Launch(
            program: "/usr/bin/python3",
            arguments: [
                Built.testServers + "/bin/wsgidav", "-q", "-H", "127.0.0.1", "-p", "PORT", "-c", "FOLDER/settings.json",
            ],
            files: [
                "settings.json": """
                {
                    "provider_mapping": { "/": { "root": "\(folder)", "readonly": true } },
                    "simple_dc": { "user_mapping": { "*": true } },
                    "lock_storage": false,
                    "property_manager": false
                }
                """
            ])
    }

    private static func sabreDAV(_ folder: String) -> FolderServer.Launch {
        FolderServer.Launch(
            program: "/usr/bin/php",
            arguments: [
                "-d", "include_path=\(sabre)", "-d", "display_errors=0", "-S", "127.0.0.1:PORT", "FOLDER/folder.php",
            ],
            files: [
                "folder.php": """
                <?php
                require 'Sabre/autoload.php';
                $server = new Sabre\\DAV\\Server(new Sabre\\DAV\\FS\\Directory('\(folder)'));
                $server->setBaseUri('/');
                $request = $_SERVER['REQUEST_METHOD'] . ' ' . $_SERVER['REQUEST_URI'];
                file_put_contents(__DIR__ . '/requests', $request . "\\n", FILE_APPEND);
                $server->exec();
                """
            ],
            log: .lines(file: "requests"))
    }
}
