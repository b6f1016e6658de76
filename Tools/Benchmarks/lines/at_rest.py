"""Memory of an open gallery that is fully read and idle."""
from figure import Figure

#: MiB.
LIMIT = 60
#: Seconds of idleness.
REST = 5


def measure(workshop):
    gallery = workshop.gallery(workshop.many)
    with workshop.browse(gallery) as terminal:
        terminal.rest(REST)
        resident, proportional = terminal.memory("Rss"), terminal.memory("Pss")
    yield Figure(
        "at-rest", f"memory with {gallery.photos:,} photos open", ours=resident, unit="MiB", limit=LIMIT,
        note=f"resident; proportional {proportional:.1f} MiB")
