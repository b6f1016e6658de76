"""A link with a server at the far end and clients at the near end."""
import contextlib
import shutil
import sqlite3

from link import NEAR, Link, obstacle
from figure import Figure
from process import Trouble, run
from web_server import WebServer

#: The time limit of a run, in seconds.
LIMIT = 110
#: Measured bytes of an answer beside its body: headers and TLS.
BESIDE = {"http": 242, "https": 160}


class Network(contextlib.ExitStack):
    """A link with its server, while entered."""

    def __init__(self, workshop, shape):
        super().__init__()
        self.workshop, self.shape = workshop, shape
        self._folder = workshop.folder_for("network")
        #: Prepared caches by gallery's address.
        self._prepared = {}

    def __enter__(self):
        super().__enter__()
        self.callback(self.workshop.discard, self._folder)
        pictures = self.workshop.pictures()
        self.link = self.enter_context(Link(self.shape, self._folder))
        self.server = self.enter_context(WebServer(self.link, pictures, self._folder))
        return self

    def environment(self, home):
        """The environment of all programs, which trusts the server."""
        return self.workshop.environment(home) | {"CURL_CA_BUNDLE": str(self.server.certificate)}

    def run(self, command, home, timeout=LIMIT):
        """Runs a program at the near end. Returns the seconds."""
        return run(self.link.at(NEAR, [str(part) for part in command]), self.environment(home), timeout)

    def home(self, address, scope="--list-only"):
        """A home with a cache that holds the gallery's list, or what `sync` fetches with another option, or with none.

        The list is fetched over this link, but the home has only the gallery and no measurements of the link. So each
        run must learn the link itself.
        """
        if (address, scope) not in self._prepared:
            first = self.workshop.folder_for("first")
            self.run([self.workshop.binary, "sync", *filter(None, [scope]), address], first)
            kept = self._folder / f"cache-{len(self._prepared)}"
            shutil.copytree(first / ".cache/vitrine/galleries", kept)
            self.workshop.discard(first)
            self._prepared[address, scope] = kept
        home = self.workshop.folder_for("home")
        shutil.copytree(self._prepared[address, scope], home / ".cache/vitrine/galleries")
        return home

    def stored(self, home):
        """Number and bytes of the thumbnails in a home's cache."""
        connection = sqlite3.connect(self.workshop.database(home))
        try:
            return connection.execute("SELECT count(*), ifnull(sum(length(data)), 0) FROM thumbnail").fetchone()
        finally:
            connection.close()


def on_links(workshop, line, shapes, measured):
    """The figures of each link, or one with the reason why there are none."""
    if why := obstacle():
        yield Figure(line, "on shaped links", missing=why, failed=True)
        return
    for shape in shapes:
        workshop.say(f"  link {shape.text}")
        try:
            with Network(workshop, shape) as network:
                yield from measured(network)
        except (Trouble, OSError) as trouble:
            yield Figure(line, f"link {shape.name}", missing=str(trouble), failed=True)


def thrown_away(counts, scheme, answers, stored):
    """The share of received bytes that were not stored: TCP's payload without the answers' headers, against the stored bytes.

    It includes bytes that TCP sent again although they had arrived.
    """
    if stored <= 0:
        raise Trouble("Nothing was stored.")
    return max(0, counts["down"]["payload"] - answers * BESIDE[scheme] - stored) / stored
