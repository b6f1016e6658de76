"""What an open gallery takes of memory when all of it has been read and nothing happens."""
from figure import Figure

#: MiB.
LIMIT = 60
#: Seconds without anything to do.
REST = 5


def measure(workshop):
    gallery = workshop.gallery(workshop.many)
    with workshop.browse(gallery) as terminal:
        terminal.rest(REST)
        resident, proportional = terminal.memory("Rss"), terminal.memory("Pss")
    yield Figure(
        "at-rest", f"memory with {gallery.photos:,} photos open", ours=resident, unit="MiB", limit=LIMIT,
        note=f"resident; with a share only of what others use too {proportional:.1f} MiB")
