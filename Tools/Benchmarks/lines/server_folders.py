"""Galleries that are folders on a server: their lists against rclone, memory, and thumbnails out of large photos."""
import contextlib
import os
import pathlib
import shutil
import sqlite3
import statistics
import sys

from figure import Figure
from link import NEAR, Link, obstacle
from list_servers import DAVServer, PageServer, methods
from network import LIMIT
from process import Trouble, fetching, run
from shapes import SHAPES

LINE = "server-folders"
FOLDERS, FILES = 100, 1_000
#: The ratio of a first listing to rclone's, by server.
RATIO = {PageServer: 0.5, DAVServer: 1.0}
#: Requests of a first listing: one for each folder and one for the outermost, and for WebDAV a refused one for a page.
REQUESTS = {PageServer: 101, DAVServer: 102}
#: MiB.
MEMORY = 64
#: The number of photos with thumbnails, the seconds until all are stored, and the bytes of each.
PHOTOS, SECONDS, BYTES = 60, 20, 64 << 10
LISTED_OVER, THUMBNAILS_OVER = "b", "c"
RCLONE = pathlib.Path(__file__).resolve().parents[3] / ".build/test-servers/bin/rclone"


def make(workshop, folders, files):
    """Folders of empty files, whose names are those of photos. Their contents do not matter to a list."""
    top = workshop.folder / f"server-folders-{folders}-{files}"
    if not top.exists():
        draft = top.with_suffix(".draft")
        shutil.rmtree(draft, ignore_errors=True)
        for folder in range(folders):
            path = draft / f"day {folder:03}"
            path.mkdir(parents=True)
            for file in range(files):
                name = path / f"IMG_{folder * files + file:06}.jpg"
                name.touch()
                moment = 1_000_000_000 + (folder * files + file) * 60
                os.utime(name, (moment, moment))
        draft.rename(top)
    return top


def large_photos(workshop):
    """The photos with thumbnails."""
    folder = workshop.folder / f"photos-with-thumbnails-{PHOTOS}"
    if not folder.exists():
        workshop.say("  making photos with thumbnails")
        tools = pathlib.Path(__file__).parents[1]
        run([
            sys.executable, tools / "photos_with_thumbnails.py", folder,
            tools.parents[1] / "TestGallery/images/october-oak.jpg", PHOTOS])
    return folder


class Place(contextlib.ExitStack):
    """A server with clients on loopback, or on a link if there is a shape, while entered."""

    def __init__(self, workshop, kind, root, shape=None):
        super().__init__()
        self._workshop, self._kind, self._root, self._shape = workshop, kind, root, shape
        self._link = None

    def __enter__(self):
        super().__enter__()
        folder = self._workshop.folder_for("list-server")
        self.callback(self._workshop.discard, folder)
        if self._shape:
            self._link = self.enter_context(Link(self._shape, folder))
        self.server = self.enter_context(self._kind(self._root, folder / "server", self._link))
        return self

    @property
    def text(self):
        """The description."""
        return f"{self._kind.NAME}, over {self._shape.text if self._shape else 'loopback'}"

    def restart(self):
        """Waits for the last packets."""
        if self._link:
            self._link.restart()

    def at_client(self, command):
        """A command to run at the client's end."""
        command = [str(part) for part in command]
        return self._link.at(NEAR, command) if self._link else command

    def run(self, command):
        """Runs a program with a new home. Returns the seconds and the home."""
        home = self._workshop.folder_for("home")
        self.restart()
        return run(self.at_client(command), self._workshop.environment(home), LIMIT), home


def rows(workshop, home, table):
    """The number of rows in a table of the only cache in a home."""
    with contextlib.closing(sqlite3.connect(workshop.database(home))) as connection:
        return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def theirs(place, kind):
    """rclone's command."""
    if kind is PageServer:
        options = ("--http-no-head", "--http-url", place.server.address, ":http:")
    else:
        options = ("--webdav-url", place.server.address, ":webdav:")
    return [RCLONE, "--config", "", "lsf", "-R", *options]


def ours(workshop, place):
    """Vitrine's command."""
    return [workshop.binary, "sync", "--list-only", place.server.address]


def listings(workshop, kind, shape=None):
    """The time of a first listing and its requests."""
    count = FOLDERS * FILES
    with Place(workshop, kind, make(workshop, FOLDERS, FILES), shape) as place:
        # The first listing of all fills the system's caches.
        workshop.discard(place.run(theirs(place, kind))[1])
        place.server.requests(FOLDERS + 1)
        mine, others, asked, asked_by_others = [], [], [], []
        for _ in range(workshop.rounds):
            seconds, home = place.run(ours(workshop, place))
            mine.append(seconds)
            if (found := rows(workshop, home, "photo")) != count:
                raise Trouble(f"Vitrine lists {found} photos of {count}.")
            workshop.discard(home)
            asked.append(place.server.requests(REQUESTS[kind]))
            seconds, home = place.run(theirs(place, kind))
            others.append(seconds)
            workshop.discard(home)
            asked_by_others.append(place.server.requests(FOLDERS + 1))
            workshop.say(f"    vitrine: {mine[-1]:.2f} s, rclone: {others[-1]:.2f} s")
        text = place.text
    yield Figure(
        LINE, f"first listing of {count:,} photos in {FOLDERS} folders: {text}", ours=statistics.median(mine), unit="s",
        theirs=statistics.median(others), ratio=statistics.median(o / t for o, t in zip(mine, others)),
        limit=RATIO[kind], limited="ratio", note="theirs: rclone lsf -R",
        details={"ours": mine, "theirs": others, "bytes": [sum(one.size for one in round) for round in asked]})
    most = max(asked, key=len)
    has_head = any(request.method == "HEAD" for request in most)
    yield Figure(
        LINE, "… requests", ours=len(most), limit=REQUESTS[kind], failed=has_head,
        missing="asks with HEAD" if has_head else "",
        note=f"{methods(most)}; rclone: {methods(asked_by_others[-1])}")


def peak(workshop, kind):
    """The peak memory of a first listing of a single folder."""
    count = FOLDERS * FILES
    with Place(workshop, kind, make(workshop, 1, count)) as place:
        home = workshop.folder_for("home")
        most, _ = fetching(ours(workshop, place), workshop.environment(home))
        if (found := rows(workshop, home, "photo")) != count:
            raise Trouble(f"Vitrine lists {found} photos of {count}.")
        workshop.discard(home)
        size = max(request.size for request in place.server.requests(REQUESTS[kind] - FOLDERS + 1))
    yield Figure(
        LINE, f"peak memory of {count:,} photos in one folder: {kind.NAME}", ours=most, unit="MiB", limit=MEMORY,
        note=f"a list of {size / 1e6:.1f} MB")


def thumbnails(workshop, shape):
    """The time until all thumbnails of large photos are stored, and the bytes of each."""
    with Place(workshop, PageServer, large_photos(workshop), shape) as place:
        times, sizes = [], []
        for _ in range(workshop.rounds):
            seconds, home = place.run([workshop.binary, "sync", place.server.address])
            times.append(seconds)
            if (found := rows(workshop, home, "thumbnail")) != PHOTOS:
                raise Trouble(f"Vitrine has {found} thumbnails of {PHOTOS}.")
            workshop.discard(home)
            photos = [one for one in place.server.requests(PHOTOS + 1) if one.path.endswith(".jpg")]
            sizes.append(sum(one.size for one in photos) / PHOTOS)
            workshop.say(f"    vitrine: {seconds:.2f} s, {len(photos)} requests, {sizes[-1]:.0f} bytes a photo")
    yield Figure(
        LINE, f"{PHOTOS} thumbnails out of photos of 5 MB over {shape.text}", ours=statistics.median(times), unit="s",
        limit=SECONDS, note="with the list", details={"ours": times})
    yield Figure(
        LINE, "… bytes of each", ours=statistics.median(sizes), limit=BYTES,
        note=f"at most {max(sizes):.0f}, with what was requested again")


def measure(workshop):
    if not os.access(RCLONE, os.X_OK):
        raise Trouble(f"{RCLONE} is missing; Tools/Scripts/install-packages test installs it.")
    why = obstacle()
    for kind in RATIO:
        yield from listings(workshop, kind)
        if LISTED_OVER in workshop.links and not why:
            yield from listings(workshop, kind, SHAPES[LISTED_OVER])
    for kind in RATIO:
        yield from peak(workshop, kind)
    if why:
        yield Figure(LINE, "on shaped links", missing=why, failed=True)
    elif THUMBNAILS_OVER in workshop.links:
        yield from thumbnails(workshop, SHAPES[THUMBNAILS_OVER])
