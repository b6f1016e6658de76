"""The fetcher is killed at random moments: lost photos, delayed keys, and bytes that are fetched again."""
import collections
import os
import signal
import socket
import sqlite3
import time

from companion import Companion
from figure import Figure, percentile
from pictures import list_file
from process import Trouble, fetchers, run
from terminal import Terminal

#: `VITRINE_KILLS=1000` for more.
KILLS = int(os.environ.get("VITRINE_KILLS", "40"))
#: After more deaths within a minute, Vitrine starts no further fetcher.
IN_ONE_RUN = 4
#: Milliseconds for the slowest key.
LIMIT = 100
#: The bytes of the largest piece of a transfer.
PIECE = 1 << 18
KIND, COUNT = "large", 60
#: Seconds from a fetcher's start to its death, and until the next fetcher must have started.
LIFE, PATIENCE = (0.0, 0.5), 10
#: Seconds until all photos must have come.
LONGEST = 200
#: Letters that neither a list of photos nor a notice contains.
LETTERS = "QWYJ"

CONFIGURATION = """
daemon off; master_process off; user root; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    log_format bytes '$request_uri $body_bytes_sent'; access_log {folder}/bytes.log bytes;
    client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder}; uwsgi_temp_path {folder};
    scgi_temp_path {folder};
    types {{ image/jpeg jpg; text/xml xml; }}
    # Each connection has its own limit, so that transfers are under way at most moments.
    server {{ listen 127.0.0.1:{port} sndbuf=64k; root {root}; limit_rate 2m; }}
}}
"""


class Server(Companion):
    """nginx on this machine, which logs the bytes that it sends."""

    def __init__(self, root, folder):
        super().__init__()
        self._root, self._folder = root, folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]

    def _command(self):
        file = self._folder / "nginx.conf"
        text = CONFIGURATION.format(folder=self._folder, root=self._root, port=self._port)
        file.write_text(text, encoding="utf-8")
        return ["nginx", "-p", f"{self._folder}/", "-e", f"{self._folder}/error.log", "-c", str(file)]

    def _make_ready(self):
        deadline = time.perf_counter() + PATIENCE
        while time.perf_counter() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self._port), 1).close()
                return
            except OSError:
                time.sleep(0.01)
        raise Trouble("nginx does not start.")

    def address(self, path):
        return f"http://127.0.0.1:{self._port}/{path}"

    def sent(self):
        """The bytes sent for each photo and thumbnail."""
        sent = collections.Counter()
        for line in (self._folder / "bytes.log").read_text(encoding="utf-8").splitlines():
            path, count = line.rsplit(" ", 1)
            if not path.endswith(".xml"):
                sent[path] += int(count)
        return sent


def press(terminal, letter):
    """Milliseconds from a letter on the command line to its frame."""
    pressed = terminal.type(letter)
    for moment, data in terminal.output(2):
        if letter.encode() in data:
            terminal.type("\x7f")
            return (moment - pressed) * 1000
    raise Trouble("A key had no effect within two seconds.")


def kill(terminal, chance, times):
    """Kills the next fetcher at a random moment of its life, and types meanwhile. Returns false if none has started."""
    deadline = time.perf_counter() + PATIENCE
    while not (found := fetchers(terminal.process)):
        if time.perf_counter() > deadline:
            return False
        for _ in terminal.output(0.005):
            pass
    death = time.perf_counter() + chance.uniform(*LIFE)
    while time.perf_counter() < death:
        times.append(press(terminal, LETTERS[len(times) % len(LETTERS)]))
        for _ in terminal.output(0.02):
            pass
    os.kill(found[0], signal.SIGKILL)
    for _ in range(3):
        times.append(press(terminal, LETTERS[len(times) % len(LETTERS)]))
    return True


def stored(workshop, home):
    """The keys of the stored photos."""
    connection = sqlite3.connect(workshop.database(home))
    try:
        return {key for key, in connection.execute("SELECT key FROM photo WHERE photo_held IS NOT NULL")}
    finally:
        connection.close()


def measure(workshop):
    root = workshop.pictures()
    times, kills, again, lost = [], 0, 0, 0
    while kills < KILLS:
        folder, home = workshop.folder_for("server"), workshop.folder_for("home")
        with Server(root, folder) as server:
            address = server.address(list_file(KIND, COUNT))
            run(workshop.sync_command(address), workshop.environment(home))
            command = [workshop.binary, "--all-thumbnails", "--all-photos", address]
            with Terminal(command, workshop.environment(home)) as terminal:
                if terminal.until(lambda screen: "Photo 0000" in screen.text, PATIENCE) is None:
                    raise Trouble("The gallery was not shown within ten seconds.")
                terminal.type(":")
                for _ in terminal.output(0.1):
                    pass
                for _ in range(IN_ONE_RUN):
                    if not kill(terminal, workshop.chance, times):
                        raise Trouble("No fetcher has started.")
                    kills += 1
                held = stored(workshop, home)
                await_all(workshop, terminal, home)
            # The check removes photos whose files are broken or missing.
            run([workshop.binary, "cache", "check", address], workshop.environment(home))
            lost += len(held - stored(workshop, home)) + COUNT - len(stored(workshop, home))
        sent = server.sent()
        again += max(0, sum(sent.values()) - sum((root / path.lstrip("/").partition("?")[0]).stat().st_size for path in sent))
        workshop.discard(home)
        workshop.discard(folder)
    yield Figure("deaths", f"photos lost by {kills:,} kills", ours=lost, limit=0)
    yield Figure(
        "deaths", "a key meanwhile, the slowest", ours=max(times), unit="ms", limit=LIMIT,
        note=f"{len(times):,} keys; p50 {percentile(times, 50):.1f} ms, p99 {percentile(times, 99):.1f} ms")
    yield Figure("deaths", "bytes sent again for each kill", ours=again / kills, unit="B", limit=PIECE)


def await_all(workshop, terminal, home):
    """Waits until the last fetcher has stored all photos."""
    deadline = time.perf_counter() + LONGEST
    while len(stored(workshop, home)) < COUNT:
        if time.perf_counter() > deadline:
            raise Trouble(f"Not all photos came within {LONGEST} seconds.")
        for _ in terminal.output(0.2):
            pass
