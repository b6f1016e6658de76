"""A photo opened after a link's collapse during thumbnails: from the key to its last byte."""
import contest
from figure import Figure
from lines.photo_first import FOUR, THUMBNAILS_TOO, busy
from network import on_links
from shapes import COLLAPSE

LINE = "collapse"
#: Of the time with four transfers.
LIMIT = 0.7


def measured(network):
    workshop, shape = network.workshop, network.shape
    ours = busy(network, "vitrine", THUMBNAILS_TOO, count=shape.thumbnails)
    four = busy(network, "four", THUMBNAILS_TOO + FOUR, count=shape.thumbnails) if workshop.knows("transfers") else None
    everybody = [ours, *([four] if four else [])]
    contest.hold(network, everybody, workshop.rounds)
    at, rate, trip = shape.later[0]
    fall = f"from {shape.rate / 1e6:g} Mbit/s to {rate / 1e3:g} kbit/s, {trip} ms at {at} s"
    what = f"photo at {shape.photo_after:g} s, {fall}"
    if four:
        said = "; ".join(one.text for one in everybody)
        yield contest.compare(LINE, what, ours, four, LIMIT, said, details=contest.details(everybody))
        return
    yield Figure(
        LINE, what, ours=ours.median if ours.counts else None, unit="s", missing=ours.trouble,
        failed=bool(ours.trouble), details=contest.details(everybody))
    yield Figure(LINE, "… against four at once", missing="this Vitrine has no --transfers option")


def measure(workshop):
    yield from on_links(workshop, LINE, [COLLAPSE], measured)
