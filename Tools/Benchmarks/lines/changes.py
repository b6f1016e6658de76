"""Changes by another process: from its commit to the frame that shows them."""
import os
import sqlite3
import statistics
import subprocess
import time

from figure import Figure, percentile
from process import Trouble, end

#: Milliseconds, for 99 of 100 updates.
LIMIT = 20
ROUNDS = 30
#: The time limit of an update, in seconds.
PATIENCE = 60
#: The interval of checks for the commit, in seconds.
LOOK = 0.0003


def change(gallery, letter):
    """Changes the first letter of a hundred names, in place."""
    with open(gallery.file, "r+b", buffering=0) as file:
        for offset in gallery.letters:
            os.pwrite(file.fileno(), letter, offset)


class Watch:
    """Detects the commit that changes the list."""

    def __init__(self, database):
        self._connection = sqlite3.connect(database, isolation_level=None)
        self._version = self._read()
        #: The last moment before the commit was visible.
        self.before = time.perf_counter()

    def _read(self):
        return self._connection.execute("SELECT list_version FROM gallery").fetchall()

    def is_changed(self):
        now = time.perf_counter()
        if self._read() != self._version:
            return True
        self.before = now
        return False

    def close(self):
        self._connection.close()


def update(workshop, gallery, home, terminal, letter):
    """Milliseconds from the commit of an update to its frame."""
    change(gallery, letter)
    names = [letter.decode() + name[1:] for name in gallery.first_names]
    watch = Watch(workshop.database(home))
    child = subprocess.Popen(
        [workshop.binary, "sync", "--list-only", gallery.file], env=workshop.environment(home),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        deadline = time.perf_counter() + PATIENCE
        while not watch.is_changed():
            if time.perf_counter() > deadline or child.poll() not in (None, 0):
                raise Trouble("The other process changed nothing.")
            time.sleep(LOOK)
        shown = terminal.until(lambda screen: any(name in screen.text for name in names), 10)
        if shown is None:
            raise Trouble("The screen did not show the changes within ten seconds.")
        if child.wait(PATIENCE) != 0:
            raise Trouble("The update of the other process failed.")
        # Count from the last check that did not see the commit, which gives the longest possible duration.
        return (shown - watch.before) * 1000
    finally:
        watch.close()
        end(child.pid)
        child.wait()


def measure(workshop):
    gallery = workshop.copy(workshop.gallery(workshop.many))
    home = workshop.home(gallery)
    times = []
    with workshop.browse(gallery) as terminal:
        for number in range(ROUNDS):
            terminal.rest(0.5)
            times.append(update(workshop, gallery, home, terminal, b"abcdefghijklmnopqrstuvwxyz"[number % 26:][:1]))
    workshop.discard(home)
    yield Figure(
        "changes", f"100 of {gallery.photos:,} changed by another process, p99", ours=percentile(times, 99), unit="ms",
        limit=LIMIT, note=f"{ROUNDS} updates, median {statistics.median(times):.1f} ms; from commit to frame")
