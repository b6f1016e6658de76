"""Peak memory of a first sync, which must not grow with the gallery."""
import statistics

from figure import Figure
from process import fetching

#: MiB.
LIMIT = 64
#: The ratio to a gallery of a tenth.
GROWTH = 1.10
ROUNDS = 3


def peak(workshop, gallery):
    home = workshop.folder_for("memory")
    most, _ = fetching(workshop.sync_command(gallery), workshop.environment(home))
    workshop.check(gallery, home)
    workshop.discard(home)
    return most


def measure(workshop):
    small, large = workshop.gallery(workshop.some), workshop.gallery(workshop.many)
    pairs = [(peak(workshop, small), peak(workshop, large)) for _ in range(ROUNDS)]
    less, more = (statistics.median(column) for column in zip(*pairs))
    yield Figure(
        "memory", f"peak memory of a first sync, {small.photos:,} photos", ours=less, unit="MiB", limit=LIMIT)
    yield Figure(
        "memory", f"peak memory of a first sync, {large.photos:,} photos", ours=more, unit="MiB", limit=LIMIT)
    yield Figure(
        "memory", "… the larger against the smaller", ratio=statistics.median(m / l for l, m in pairs), limit=GROWTH,
        limited="ratio")
