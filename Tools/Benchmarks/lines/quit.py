"""Quitting while every transfer hangs: from the key to the end of the program."""
import socket
import statistics
import threading

from figure import Figure
from process import Trouble
from terminal import Terminal

#: Milliseconds, for the worst.
LIMIT = 100
ROUNDS = 20
#: The maximum of simultaneous transfers.
TRANSFERS = 64
PHOTOS = 200
#: The time limit for all requests, in seconds.
PATIENCE = 30


class HeldServer:
    """Serves a list, and only the beginning of everything else."""

    def __init__(self):
        rows = "".join(
            f'<photo id="{number}" name="Photo {number}" date="2006-01-01T00:00:00Z">'
            f'<image kind="image" srcURL="p/{number}"/><image kind="thumbnail" srcURL="t/{number}"/></photo>'
            for number in range(PHOTOS))
        self._list = f"<album>{rows}</album>".encode()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}/gallery.xml"
        self._held = []
        self._news = threading.Condition()

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        # shutdown wakes a thread in accept(2); close does not.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.let_go()

    def await_transfers(self):
        """Waits until all transfers hang."""
        with self._news:
            if not self._news.wait_for(lambda: len(self._held) >= TRANSFERS, PATIENCE):
                raise Trouble(f"{len(self._held)} transfers hang, and not {TRANSFERS}.")

    def let_go(self):
        """Closes the held connections, for the next round."""
        with self._news:
            for client in self._held:
                client.close()
            self._held = []

    def _accept(self):
        while True:
            try:
                client = self._listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        head = "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n"
        try:
            while request := client.recv(65_536):
                if request.startswith(b"GET /gallery.xml "):
                    client.sendall(head.format(len(self._list)).encode() + self._list)
                    continue
                client.sendall(head.format(1 << 20).encode() + b"\xff\xd8\xff\xe0" + bytes(10_000))
                with self._news:
                    self._held.append(client)
                    self._news.notify_all()
                return
        except OSError:
            client.close()


def quitting(workshop, server):
    """Milliseconds from the key to the program's end."""
    home = workshop.folder_for("quit")
    arguments = [f"--transfers={TRANSFERS}", "--all-thumbnails=yes", server.address]
    with Terminal([workshop.binary, *arguments], workshop.environment(home)) as terminal:
        if terminal.until(lambda screen: "Photo " in screen.text) is None:
            raise Trouble("No photo was shown within ten seconds.")
        server.await_transfers()
        terminal.rest(0.3)
        pressed = terminal.type("Q")
        ended = terminal.ending()
    server.let_go()
    workshop.discard(home)
    return (ended - pressed) * 1000


def measure(workshop):
    with HeldServer() as server:
        times = [quitting(workshop, server) for _ in range(ROUNDS)]
    yield Figure(
        "quit", f"from Q to the end, {TRANSFERS} transfers hanging, worst", ours=max(times), unit="ms", limit=LIMIT,
        note=f"{ROUNDS} times, median {statistics.median(times):.1f} ms")
