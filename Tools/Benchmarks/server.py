"""A loopback server that answers conditional requests."""
import http.server
import shutil
import threading


class GalleryServer:
    """Serves one file, with an ETag, and remembers the status of each answer."""

    def __init__(self, file):
        answers = self.answers = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            etag = '"of-this-gallery"'

            def do_GET(self):
                is_known = self.headers.get("If-None-Match") == self.etag
                answers.append(304 if is_known else 200)
                self.send_response(answers[-1])
                self.send_header("ETag", self.etag)
                if is_known:
                    self.end_headers()
                    return
                self.send_header("Content-Type", "application/xml")
                self.send_header("Content-Length", str(file.stat().st_size))
                self.end_headers()
                with open(file, "rb") as body:
                    shutil.copyfileobj(body, self.wfile, 1 << 18)

            def log_message(self, *_):
                """Suppresses the log."""

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}/gallery.xml"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
