"""First sync of a large gallery, against programs that read the file and store the rows."""
import os
from statistics import median

from figure import Figure
from process import fetching, run

#: Of xmllint's time and sqlite3's together.
LIMIT = 1.0
ROUNDS = 3

TABLE = "CREATE TABLE photo (id TEXT UNIQUE, name, date, photo, thumbnail)"
INDEX = "CREATE INDEX photo_by_date ON photo (date)"


def store(workshop, gallery, before, after):
    """The seconds that sqlite3 takes to store the rows, with statements before and after."""
    database = workshop.folder_for("peer") / "rows.sqlite"
    import_rows = f'.import --csv "{gallery.rows}" photo'
    seconds = run(["sqlite3", database, *before, import_rows, *after])
    # sqlite3 continues after an error and reports success; this statement fails instead.
    run(["sqlite3", database, f"SELECT iif(count(*) = {gallery.photos}, 0, abs(-9223372036854775808)) FROM photo"])
    workshop.discard(database.parent)
    return seconds


def measure(workshop):
    for order, what in ((None, "first sync of {:,} photos"), ("mixed", "… whose ids have no order")):
        yield from compared(workshop, workshop.gallery(workshop.many, order), what)


def compared(workshop, gallery, what):
    ours, reading, storing, indexing_later = [], [], [], []
    for _ in range(ROUNDS):
        # Flush, so that no program waits for another's writes.
        os.sync()
        home = workshop.folder_for("first")
        ours.append(workshop.sync(gallery, home))
        workshop.check(gallery, home)
        workshop.discard(home)
        os.sync()
        reading.append(run(["xmllint", "--stream", "--noout", gallery.file]))
        storing.append(store(workshop, gallery, [TABLE, INDEX], []))
        os.sync()
        indexing_later.append(store(workshop, gallery, [TABLE], [INDEX]))
    for text, limit, other in (
        (what.format(gallery.photos), LIMIT, storing),
        ("… against an index that is made afterwards", None, indexing_later),
    ):
        theirs = [r + s for r, s in zip(reading, other)]
        yield Figure(
            "first-sync", text, ours=median(ours), unit="s", theirs=median(theirs),
            ratio=median(o / t for o, t in zip(ours, theirs)), limit=limit, limited="ratio",
            note=f"theirs: xmllint --stream {median(reading):.2f} s, then sqlite3 .import {median(other):.2f} s")
    home = workshop.folder_for("first")
    _, written = fetching(workshop.sync_command(gallery), workshop.environment(home))
    size = workshop.database(home).stat().st_size / 1e6
    workshop.discard(home)
    yield Figure("first-sync", "… sent to the disk", ours=written, unit="MB", note=f"for a database of {size:.0f} MB")
