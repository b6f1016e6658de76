"""A sync of an unchanged list, from a file and over HTTP."""
import statistics

from figure import Figure
from server import GalleryServer

REQUESTS = 1
ROUNDS = 5


def measure(workshop):
    gallery = workshop.gallery(workshop.many)
    home = workshop.home(gallery)
    workshop.sync(gallery, home)
    seconds = [workshop.sync(gallery, home) for _ in range(ROUNDS)]
    yield Figure(
        "unchanged", f"sync of {gallery.photos:,} photos, file unchanged", ours=statistics.median(seconds) * 1000,
        unit="ms")
    with GalleryServer(gallery.file) as server:
        home = workshop.folder_for("http")
        workshop.sync(server.address, home)
        workshop.check(gallery, home)
        server.answers.clear()
        seconds = [workshop.sync(server.address, home) for _ in range(ROUNDS)]
        answers = list(server.answers)
        workshop.discard(home)
    yield Figure(
        "unchanged", f"sync of {gallery.photos:,} photos, answered 304", ours=statistics.median(seconds) * 1000,
        unit="ms")
    unchanged = answers.count(304)
    yield Figure(
        "unchanged", "… requests for each", ours=len(answers) / ROUNDS, limit=REQUESTS,
        failed=unchanged != len(answers), missing="" if unchanged == len(answers) else f"answers: {answers}")
