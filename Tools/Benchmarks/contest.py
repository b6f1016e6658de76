"""Compares programs in turns, so that other load affects all of them."""
import dataclasses
import os
import statistics
from collections.abc import Callable

from figure import Figure
from network import LIMIT
from process import Trouble, TooLong

#: A program that takes this many times as long as the best runs only once.
HOPELESS = 3


@dataclasses.dataclass
class Entry:
    """A program at one setting."""

    name: str
    #: Runs it once. Returns the seconds and further notes.
    go: Callable[[], tuple[float, dict]]
    is_ours: bool = False
    seconds: list = dataclasses.field(default_factory=list)
    notes: list = dataclasses.field(default_factory=list)
    #: The reason for its exclusion, if any.
    trouble: str = ""
    #: Whether it took too long.
    is_cut_off: bool = False

    @property
    def median(self):
        return statistics.median(self.seconds)

    @property
    def counts(self):
        """Whether it has a figure to compare."""
        return bool(self.seconds) and not self.trouble

    @property
    def text(self):
        if self.trouble:
            return f"{self.name} {self.trouble}"
        return f"{self.name} {self.median:.2f}" + (" (once)" if len(self.seconds) == 1 else "")


def hold(network, entries, rounds):
    """Runs all programs in turns, for a number of rounds."""
    for turn in range(rounds):
        best = min((entry.median for entry in entries if entry.counts and not entry.is_ours), default=0)
        for entry in entries:
            is_hopeless = turn and not entry.is_ours and entry.counts and entry.median > HOPELESS * best
            if not entry.trouble and not is_hopeless:
                run(network, entry)


def run(network, entry):
    """Runs a program once."""
    network.link.restart()
    try:
        seconds, notes = entry.go()
    except TooLong as trouble:
        entry.trouble, entry.is_cut_off = f"took more than {LIMIT} s", True
        seconds, notes = None, {"trouble": str(trouble)}
    except Trouble as trouble:
        if entry.is_ours:
            raise
        entry.trouble = "did not fetch everything"
        seconds, notes = None, {"trouble": str(trouble)}
    if seconds is not None:
        entry.seconds.append(seconds)
    entry.notes.append({"seconds": seconds, "link": network.link.counts(), "load": os.getloadavg()[0]} | notes)
    told = f"{seconds:.2f} s" if seconds is not None else entry.trouble
    network.workshop.say(f"    {entry.name}: {told}")


def best(entries):
    """The fastest program at its best setting."""
    counted = [entry for entry in entries if entry.counts and not entry.is_ours]
    if not counted:
        raise Trouble("No other program fetched everything.")
    return min(counted, key=lambda entry: entry.median)


def compare(line, what, ours, theirs, limit=None, note="", **more):
    """Compares ours with theirs by the median ratio of the pairs. A run that was ended counts with its time limit."""
    if not ours.counts or not (theirs.counts or theirs.is_cut_off):
        who = theirs if ours.counts else ours
        return Figure(line, what, missing=f"{who.name} {who.trouble}", failed=True, **more)
    seconds = theirs.seconds + [LIMIT] * (len(ours.seconds) - len(theirs.seconds))
    if theirs.is_cut_off:
        note = "; ".join(filter(None, (f"theirs was ended after {LIMIT} s, and would have taken longer", note)))
    return Figure(
        line, what, ours=ours.median, unit="s", theirs=statistics.median(seconds),
        ratio=statistics.median(o / t for o, t in zip(ours.seconds, seconds)), limit=limit, limited="ratio", note=note,
        **more)


def details(entries):
    """All notes, for the JSON."""
    return {entry.name: entry.notes for entry in entries}
