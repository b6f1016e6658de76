"""From the program's start to the first frame with photos, also against the least work for such a frame."""
import pathlib
import statistics

from figure import Figure
from process import Trouble, run
from terminal import Terminal

#: Milliseconds.
LIMIT = 30
#: Of a large gallery against a small one.
GROWTH = 1.2
ROUNDS = 15
#: A program that only reads and draws the rows.
LEAST = pathlib.Path(__file__).parents[1] / "limit/frame_limit.c"


def first_frame(terminal, gallery):
    """In milliseconds. Ends the program."""
    with terminal:
        shown = terminal.until(lambda screen: any(name in screen.text for name in gallery.first_names))
        if shown is None:
            raise Trouble("No photo was shown within ten seconds.")
        return (shown - terminal.begun) * 1000


def least(workshop, gallery):
    """Returns a function that starts the program with the least work."""
    program = workshop.folder_for("limit") / "frame_limit"
    run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, LEAST, "-lsqlite3", "-lncursesw"])
    home = workshop.home(gallery)

    def start(more=0):
        return Terminal([program, workshop.database(home), more], workshop.environment(home))

    ours, theirs = workshop.browse(gallery), start()
    first_frame(ours, gallery), first_frame(theirs, gallery)
    return lambda: start(max(0, ours.received - theirs.received))


def measure(workshop):
    small, large = workshop.gallery(workshop.few), workshop.gallery(workshop.many)
    start_least = least(workshop, large)
    # The first start fills the file cache and does not count.
    first_frame(workshop.browse(small), small)
    turns = [
        (first_frame(workshop.browse(small), small), first_frame(workshop.browse(large), large),
         first_frame(start_least(), large))
        for _ in range(ROUNDS)]
    for gallery, times in zip((small, large), zip(*turns)):
        yield Figure(
            "first-frame", f"first frame of {gallery.photos:,} photos", ours=statistics.median(times), unit="ms",
            limit=LIMIT, note=f"{ROUNDS} starts, {min(times):.1f} to {max(times):.1f} ms")
    yield Figure(
        "first-frame", "… the larger against the smaller", ratio=statistics.median(m / l for l, m, _ in turns),
        limit=GROWTH, limited="ratio")
    yield Figure(
        "first-frame", "… the larger against the least work", ours=statistics.median(m for _, m, _ in turns), unit="ms",
        theirs=statistics.median(t for _, _, t in turns), ratio=statistics.median(m / t for _, m, t in turns))
