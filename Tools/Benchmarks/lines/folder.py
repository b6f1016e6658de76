"""A local folder of photos: its listing against `find` and `sqlite3 .import`, its first frame, and a new file."""
import os
import shutil
import statistics
import time

from figure import Figure, percentile
from process import Trouble, fetching, run
from terminal import Terminal

LINE = "folder"
FOLDERS, FILES = 500, 200
#: The ratio of the first listing to `find` and `.import`, and of an unchanged one to `find`.
FIRST, AGAIN = 1.5, 1.2
#: MiB.
MEMORY = 64
#: Milliseconds to the first frame with photos, of a new folder and of a known one, and to a new file's frame.
NEW, KNOWN, APPEARS = 100, 30, 100
ROUNDS, STARTS, NEW_FILES = 5, 10, 50


def make(workshop):
    """A folder of empty files, whose names are those of photos. Their contents do not matter to a list."""
    top = workshop.folder / f"folders-{FOLDERS}-{FILES}"
    if not top.exists():
        draft = top.with_suffix(".draft")
        shutil.rmtree(draft, ignore_errors=True)
        for folder in range(FOLDERS):
            path = draft / f"{2000 + folder // 25}" / f"day {folder:03}"
            path.mkdir(parents=True)
            for file in range(FILES):
                name = path / f"IMG_{folder * FILES + file:06}.jpg"
                name.touch()
                moment = 1_000_000_000 + (folder * FILES + file) * 60
                os.utime(name, (moment, moment))
        draft.rename(top)
    # An earlier run has added files.
    for file in top.rglob("new-*.jpg"):
        file.unlink()
    return top


def listed(workshop, top, home):
    """The seconds that a listing takes."""
    return run([workshop.binary, "sync", "--list-only", top], workshop.environment(home))


def imported(top, folder):
    """The seconds of `find` and of an import of what it prints."""
    rows, database = folder / "rows.csv", folder / "rows.sqlite"
    database.unlink(missing_ok=True)
    script = (
        f"find '{top}' -type f -printf '%p,%s,%T@\\n' >'{rows}' && "
        f"sqlite3 '{database}' 'CREATE TABLE photo (path, size, time)' '.mode csv' '.import {rows} photo'")
    return run(["sh", "-c", script])


def found(top):
    """The seconds of `find`."""
    return run(["sh", "-c", f"find '{top}' -type f -printf '%p %s %T@\\n' >/dev/null"])


def first_frame(workshop, top, home):
    """Milliseconds from the start to the first frame with photos."""
    with Terminal([workshop.binary, top], workshop.environment(home)) as terminal:
        shown = terminal.until(lambda screen: "IMG_" in screen.text)
        if shown is None:
            raise Trouble("No photo was shown within ten seconds.")
        return (shown - terminal.begun) * 1000


def counts(number):
    """A condition: the screen shows a list of this many photos."""
    return lambda screen: f"of {number}" in screen.text.replace(",", "")


def appearances(workshop, top, home):
    """Milliseconds from the end of writing a file to the frame that counts it."""
    times = []
    folder = next(path for path in sorted(top.rglob("day *")))
    with Terminal([workshop.binary, top], workshop.environment(home)) as terminal:
        count = FOLDERS * FILES
        if terminal.until(counts(count), 60) is None:
            raise Trouble("The folder was not listed within a minute.")
        for number in range(NEW_FILES):
            terminal.rest(0.2)
            file = folder / f"new-{number}.jpg"
            file.write_bytes(b"")
            begun = time.perf_counter()
            shown = terminal.until(counts(count + number + 1))
            if shown is None:
                raise Trouble("The new file was not shown within ten seconds.")
            times.append((shown - begun) * 1000)
    return times


def measure(workshop):
    top = make(workshop)
    scratch = workshop.folder_for("rows")
    found(top)
    first, base, again, bare = [], [], [], []
    for _ in range(ROUNDS):
        home = workshop.folder_for("home")
        first.append(listed(workshop, top, home))
        base.append(imported(top, scratch))
        again.append(listed(workshop, top, home))
        bare.append(found(top))
        workshop.discard(home)
    count = FOLDERS * FILES
    yield Figure(
        LINE, f"first listing of {count:,} photos in {FOLDERS} folders", ours=statistics.median(first), unit="s",
        theirs=statistics.median(base), ratio=statistics.median(o / t for o, t in zip(first, base)), limit=FIRST,
        limited="ratio", note="theirs: find -printf and sqlite3 .import")
    yield Figure(
        LINE, "… again, unchanged", ours=statistics.median(again), unit="s", theirs=statistics.median(bare),
        ratio=statistics.median(o / t for o, t in zip(again, bare)), limit=AGAIN, limited="ratio", note="theirs: find")
    home = workshop.folder_for("home")
    most, _ = fetching([workshop.binary, "sync", "--list-only", top], workshop.environment(home))
    workshop.discard(home)
    yield Figure(LINE, "… peak memory of the first listing", ours=most, unit="MiB", limit=MEMORY)
    new = []
    for _ in range(STARTS):
        home = workshop.folder_for("home")
        new.append(first_frame(workshop, top, home))
        workshop.discard(home)
    yield Figure(LINE, "first frame of a new folder", ours=statistics.median(new), unit="ms", limit=NEW)
    home = workshop.folder_for("home")
    listed(workshop, top, home)
    known = [first_frame(workshop, top, home) for _ in range(STARTS)]
    yield Figure(LINE, "… of a known one", ours=statistics.median(known), unit="ms", limit=KNOWN)
    times = appearances(workshop, top, home)
    workshop.discard(home)
    yield Figure(
        LINE, "a new file, from its end to its frame, p99", ours=percentile(times, 99), unit="ms", limit=APPEARS,
        note=f"{NEW_FILES} files, median {statistics.median(times):.1f} ms")
