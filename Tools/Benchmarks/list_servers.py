"""Web servers that list folders: nginx with web pages, and Apache with WebDAV, on loopback or at the far end of a link."""
import collections
import dataclasses
import pathlib
import socket
import time

from companion import Companion
from link import FAR
from process import Trouble

#: The port at the far end of a link.
PORT = 8090
#: The time limits of the start and of the last lines of the log, in seconds.
PATIENCE, SETTLING = 10, 2

# A single process is easy to end.
NGINX = """
daemon off; master_process off; user root; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    log_format request "$request_method $status $body_bytes_sent $uri"; access_log {folder}/requests request;
    sendfile on; tcp_nopush on; keepalive_requests 100000;
    client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder}; uwsgi_temp_path {folder};
    scgi_temp_path {folder};
    types {{ image/jpeg jpg; }}
    server {{ listen {address}:{port}; root "{root}"; autoindex on; }}
}}
"""
# Without the module for lists it refuses a browser's request for a folder. The numbers of threads are those of Debian.
APACHE = """
ServerRoot {folder}
ServerName localhost
PidFile {folder}/apache.pid
DefaultRuntimeDir {folder}
ErrorLog {folder}/error.log
Listen {address}:{port}
{modules}
LogFormat "%m %>s %B %U" request
CustomLog {folder}/requests request
User www-data
Group www-data
ThreadsPerChild 25
MaxRequestWorkers 25
MaxKeepAliveRequests 0
TypesConfig /dev/null
AddType image/jpeg .jpg
DocumentRoot "{root}"
DavLockDB {folder}/locks
<Location />
    Dav On
</Location>
"""
MODULES = ("mpm_event", "authn_core", "authz_core", "mime", "dir", "dav", "dav_fs")


@dataclasses.dataclass(frozen=True)
class Request:
    """A line of a server's log."""

    method: str
    status: int
    #: The bytes of the answer's body that were sent.
    size: int
    path: str

    @classmethod
    def read(cls, line):
        """The request in a line. A path may contain spaces."""
        method, status, size, path = line.split(" ", 3)
        return cls(method, int(status), int(size), path)


class ListServer(Companion):
    """Serves the lists of a folder and the files below it while entered."""

    def __init__(self, root, folder, link=None):
        super().__init__()
        self._root, self._folder, self._link = root, folder, link
        self._host = FAR if link else "127.0.0.1"
        self._port = PORT if link else free_port()
        #: The position in the log.
        self._read = 0

    @property
    def address(self):
        """The address of the folder."""
        return f"http://{self._host}:{self._port}/"

    def requests(self, expected):
        """The requests since the last call. A server writes a line after its answer, so this waits for some."""
        log = self._folder / "requests"
        deadline = time.perf_counter() + SETTLING
        while True:
            lines = log.read_text(encoding="utf-8").split("\n")[self._read:-1] if log.exists() else []
            if len(lines) >= expected or time.perf_counter() > deadline:
                self._read += len(lines)
                return [Request.read(line) for line in lines]
            time.sleep(0.02)

    def _command(self):
        self._folder.mkdir(exist_ok=True)
        file = self._folder / "settings"
        file.write_text(self._settings(), encoding="utf-8")
        command = [*self._program(), str(file)]
        return self._link.at(FAR, command) if self._link else command

    def _settings(self):
        """The text of its settings."""
        raise NotImplementedError

    def _program(self):
        """The program and its options, whose last one takes the file with the settings."""
        raise NotImplementedError

    def _make_ready(self):
        """Waits until it listens."""
        deadline = time.perf_counter() + PATIENCE
        while self._child.poll() is None and time.perf_counter() < deadline:
            sockets = pathlib.Path(f"/proc/{self._child.pid}/net/tcp").read_text().split("\n")[1:]
            if any(fields and fields[3] == "0A" and fields[1].endswith(f":{self._port:04X}")
                   for fields in map(str.split, sockets)):
                return
            time.sleep(0.01)
        log = self._folder / "error.log"
        raise Trouble(f"{self._program()[0]} does not start: {log.read_text()[-300:] if log.exists() else ''}")


class PageServer(ListServer):
    """nginx with lists as web pages."""

    NAME = "nginx, web pages"

    def _settings(self):
        return NGINX.format(folder=self._folder, root=self._root, address=self._host, port=self._port)

    def _program(self):
        return ["nginx", "-p", f"{self._folder}/", "-e", f"{self._folder}/error.log", "-c"]


class DAVServer(ListServer):
    """Apache with WebDAV, and without lists for browsers."""

    NAME = "Apache, WebDAV"

    def _settings(self):
        modules = "\n".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in MODULES)
        return APACHE.format(
            folder=self._folder, root=self._root, address=self._host, port=self._port, modules=modules)

    def _program(self):
        return ["/usr/sbin/apache2", "-X", "-f"]


def free_port():
    """A port of loopback that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def methods(requests):
    """The number of requests with each method, as text."""
    return ", ".join(f"{count} {method}" for method, count in collections.Counter(
        request.method for request in requests).items())
