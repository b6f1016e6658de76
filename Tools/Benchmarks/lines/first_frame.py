"""From the program's start to the first frame with photos."""
import statistics

from figure import Figure
from process import Trouble

#: Milliseconds.
LIMIT = 30
#: Of a large gallery against a small one.
GROWTH = 1.2
ROUNDS = 15


def first_frame(workshop, gallery):
    """In milliseconds."""
    with workshop.browse(gallery) as terminal:
        shown = terminal.until(lambda screen: any(name in screen.text for name in gallery.first_names))
        if shown is None:
            raise Trouble("No photo was shown within ten seconds.")
        return (shown - terminal.begun) * 1000


def measure(workshop):
    small, large = workshop.gallery(workshop.few), workshop.gallery(workshop.many)
    # The first start fills the file cache and does not count.
    first_frame(workshop, small), first_frame(workshop, large)
    pairs = [(first_frame(workshop, small), first_frame(workshop, large)) for _ in range(ROUNDS)]
    for gallery, times in zip((small, large), zip(*pairs)):
        yield Figure(
            "first-frame", f"first frame of {gallery.photos:,} photos", ours=statistics.median(times), unit="ms",
            limit=LIMIT, note=f"{ROUNDS} starts, {min(times):.1f} to {max(times):.1f} ms")
    yield Figure(
        "first-frame", "… the larger against the smaller", ratio=statistics.median(m / l for l, m in pairs),
        limit=GROWTH, limited="ratio")
