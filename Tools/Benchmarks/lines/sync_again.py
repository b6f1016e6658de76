"""A sync of a list that is sent again unchanged."""
import os
import sqlite3
import statistics
import struct
import subprocess

from figure import Figure
from process import Trouble, run

#: The ratio to xmllint, which only reads it.
LIMIT = 3
ROUNDS = 5


def touch(gallery):
    """Changes the file's date, so that only reading shows that it is unchanged."""
    os.utime(gallery.file)


def pages_written(workshop, gallery, home):
    """Returns the number of written pages for each table and index that a sync changes.

    An open read transaction keeps the write-ahead log from being cleared.
    """
    database = workshop.database(home)
    reader = sqlite3.connect(database, isolation_level=None)
    try:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM gallery").fetchall()
        touch(gallery)
        workshop.sync(gallery, home)
        numbers = pages_in_log(database.with_name(database.name + "-wal").read_bytes())
    finally:
        reader.close()
    if not numbers:
        raise Trouble("The log of the database is empty, but the date of the update at least was written.")
    listed = ",".join(map(str, sorted(numbers)))
    names = subprocess.run(
        ["sqlite3", "-readonly", database, f"SELECT name, count(*) FROM dbstat WHERE pageno IN ({listed}) GROUP BY 1"],
        check=True, capture_output=True, text=True, timeout=120).stdout
    return {name: int(count) for name, count in (line.split("|") for line in names.split())}


def pages_in_log(log):
    """The numbers of the pages in a write-ahead log: https://sqlite.org/fileformat2.html#the_write_ahead_log"""
    if len(log) < 32:
        return set()
    (size,) = struct.unpack(">I", log[8:12])
    salts = log[16:24]
    frames = range(32, len(log) - size - 23, size + 24)
    # Frames from before the last checkpoint have other salts.
    return {struct.unpack(">I", log[at:at + 4])[0] for at in frames if log[at + 8:at + 16] == salts}


def measure(workshop):
    gallery = workshop.gallery(workshop.many)
    home = workshop.home(gallery)
    ours, theirs = [], []
    for _ in range(ROUNDS):
        touch(gallery)
        ours.append(workshop.sync(gallery, home))
        theirs.append(run(["xmllint", "--stream", "--noout", gallery.file]))
    yield Figure(
        "sync-again", f"sync of {gallery.photos:,} photos again, body sent", ours=statistics.median(ours), unit="s",
        theirs=statistics.median(theirs), ratio=statistics.median(o / t for o, t in zip(ours, theirs)), limit=LIMIT,
        limited="ratio", note="theirs: xmllint --stream")
    written = pages_written(workshop, gallery, home)
    yield Figure(
        "sync-again", "… pages of photos and their indices written",
        ours=sum(count for name, count in written.items() if name.startswith(("photo", "sqlite_autoindex_photo"))),
        limit=0, note="all that was written: " + ", ".join(f"{name} {count}" for name, count in written.items()))
