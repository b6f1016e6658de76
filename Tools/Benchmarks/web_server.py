"""nginx at the far end of a link: http, and https with HTTP/2."""
import pathlib
import time

from companion import Companion
from link import FAR
from process import Trouble, run

PORTS = {"http": 8080, "https": 8443}
#: The time limit of the start, in seconds.
PATIENCE = 10

# A single process is easy to end.
CONFIGURATION = """
daemon off; master_process off; user root; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000;
    client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder}; uwsgi_temp_path {folder};
    scgi_temp_path {folder};
    types {{ image/jpeg jpg; text/xml xml; }}
    root {root};
    server {{ listen {address}:8080; }}
    server {{
        listen {address}:8443 ssl http2; ssl_protocols TLSv1.2 TLSv1.3;
        ssl_certificate {folder}/certificate.pem; ssl_certificate_key {folder}/key.pem;
    }}
}}
"""


class WebServer(Companion):
    """Serves a folder while entered."""

    def __init__(self, link, root, folder):
        super().__init__()
        self.certificate = folder / "certificate.pem"
        self._link, self._root, self._folder = link, root, folder

    def _command(self):
        folder = self._folder
        run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-days", "9", "-subj", f"/CN={FAR}", "-addext", f"subjectAltName=IP:{FAR}", "-keyout", folder / "key.pem",
            "-out", self.certificate])
        file = folder / "nginx.conf"
        file.write_text(CONFIGURATION.format(folder=folder, root=self._root, address=FAR), encoding="utf-8")
        return self._link.at(FAR, ["nginx", "-p", f"{folder}/", "-e", f"{folder}/error.log", "-c", str(file)])

    def address(self, scheme, path):
        """The address of a file."""
        return f"{scheme}://{FAR}:{PORTS[scheme]}/{path}"

    def _make_ready(self):
        """Waits until it listens on both ports of its namespace."""
        deadline = time.perf_counter() + PATIENCE
        wanted = {f":{port:04X}" for port in PORTS.values()}
        while self._child.poll() is None and time.perf_counter() < deadline:
            sockets = pathlib.Path(f"/proc/{self._child.pid}/net/tcp").read_text().split("\n")[1:]
            listening = {fields[1][-5:] for fields in map(str.split, sockets) if fields and fields[3] == "0A"}
            if wanted <= listening:
                return
            time.sleep(0.01)
        log = self._folder / "error.log"
        raise Trouble(f"nginx does not start: {log.read_text()[-300:] if log.exists() else ''}")
