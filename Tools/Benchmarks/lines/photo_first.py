"""A photo opened during other transfers over links: from the key to its last byte."""
import statistics

import contest
from contest import Entry
from figure import Figure
from network import on_links
from pictures import KINDS, PHOTOS, THUMBNAILS, size_of_last
from shapes import SHAPES
from visit import Visit

LINE = "photo-first"
#: Of the same photo alone.
LIMITS = {"http": 1.15, "https": 1.0}
#: Of the time with four transfers, during the transfer of all photos.
AMONG_PHOTOS = {"b": 0.5, "c": 0.08, "d": 0.28}
#: Parts of the time that four photos take.
LATER = (1 / 3, 2 / 3)
#: Percent of wasted bytes.
WASTE = 3
#: Seconds from the start if nothing else is fetched.
ALONE_AFTER = 1

THUMBNAILS_TOO = ("--all-thumbnails",)
PHOTOS_TOO = ("--all-thumbnails", "--all-photos")
FOUR = ("--transfers", "4")


def entry(network, name, visit):
    """A visit as an entry of the contest."""
    return Entry(name, lambda: visit.go(network), is_ours=True)


def busy(network, name, options, scheme="http", count=THUMBNAILS):
    """The photo during the transfer of thumbnails."""
    shape = network.shape
    return entry(network, name, Visit(scheme, shape.photos, count, shape.photo_after, options))


def among_photos(network, name, options, moments=(0,)):
    """The photo while other photos are fetched. All thumbnails are cached, since they would be fetched first.

    With four transfers at once, the photo waits for one of them, for a short or a long time. So it is opened at several
    moments, which are parts of the time that four photos take. The figure is the mean, as in the simulated table.
    """
    shape = network.shape
    time = four_photos(shape)

    def visit(moment):
        after = shape.photo_after + moment * time
        return Visit("http", shape.among, shape.thumbnails, after, options, scope="").go(network)

    def go():
        visits = [visit(moment) for moment in moments]
        return statistics.mean(seconds for seconds, _ in visits), {"visits": visits}

    return Entry(name, go, is_ours=True)


def four_photos(shape):
    """The seconds that four prefetched photos take."""
    return shape.time_of_four(PHOTOS[KINDS[shape.among][0]][1])


def alone(network, scheme):
    """The photo alone, with everything else cached."""
    visit = Visit(scheme, network.shape.photos, 1, ALONE_AFTER, ("--sync-on-open=no",), scope="")
    return entry(network, f"alone, {scheme}", visit)


def measured(network):
    workshop, shape = network.workshop, network.shape
    has_width, has_photos = workshop.knows("transfers"), workshop.knows("all-photos")
    pairs = {
        scheme: (busy(network, f"among thumbnails, {scheme}", THUMBNAILS_TOO, scheme), alone(network, scheme))
        for scheme in LIMITS
    }
    four = busy(network, "among thumbnails, four", THUMBNAILS_TOO + FOUR) if has_width else None
    # If the first four photos are complete by then, the progress of the next four is random.
    is_in_first = four_photos(shape) > shape.photo_after
    moments = (0,) if is_in_first else (0, *LATER)
    photos = among_photos(network, "among photos", PHOTOS_TOO, moments) if has_photos else None
    has_both = has_photos and has_width
    photos_four = among_photos(network, "among photos, four", PHOTOS_TOO + FOUR, moments) if has_both else None
    everybody = [one for one in (*sum(pairs.values(), ()), four, photos, photos_four) if one]
    contest.hold(network, everybody, workshop.rounds)
    later = [
        among_photos(network, f"among photos, later{four}", PHOTOS_TOO + more, LATER)
        for four, more in (("", ()), (", four", FOUR)) if has_both and is_in_first
    ]
    contest.hold(network, later, 1)
    size = size_of_last(shape.photos)
    for scheme, (ours, theirs) in pairs.items():
        what = f"photo of {size / 1e6:g} MB among {THUMBNAILS:,} thumbnails over {shape.text}"
        if scheme == "http":
            said = "theirs: alone on the link; seconds: " + "; ".join(one.text for one in everybody)
            yield contest.compare(
                LINE, what, ours, theirs, LIMITS[scheme], said, details=contest.details(everybody))
        else:
            yield contest.compare(LINE, "… https, with HTTP/2", ours, theirs, LIMITS[scheme])
    yield against_four("… against four at once", pairs["http"][0], four)
    yield against_four("… among photos, against four at once", photos, photos_four, AMONG_PHOTOS.get(shape.name))
    if later:
        yield against_four("… the same, when they are further", *later)
    yield waste(network)


def against_four(what, ours, four, limit=None):
    """Compares Vitrine with itself at four transfers."""
    if not ours:
        return Figure(LINE, what, missing="this Vitrine has no --all-photos")
    if not four:
        return Figure(LINE, what, missing="this Vitrine has no --transfers: it always has four at once")
    return contest.compare(LINE, what, ours, four, limit)


def waste(network):
    """Wasted bytes of a complete transfer with a photo opened meanwhile."""
    shape = network.shape
    one = entry(network, "to the end", Visit(
        "http", shape.photos, shape.thumbnails, shape.photo_after, THUMBNAILS_TOO, is_to_the_end=True))
    contest.hold(network, [one], network.workshop.rounds)
    what = f"… bytes thrown away, with {shape.thumbnails:,} thumbnails"
    if one.trouble:
        return Figure(LINE, what, missing=f"it {one.trouble}", failed=True)
    shares = [note["thrown_away"] * 100 for note in one.notes]
    said = ", ".join(f"{share:.2f} % ({note['cut_off']})" for share, note in zip(shares, one.notes))
    return Figure(
        LINE, what, ours=statistics.median(shares), unit="%", limit=WASTE,
        note=f"each run, and how many transfers were cut off: {said}", details=contest.details([one]))


def measure(workshop):
    yield from on_links(workshop, LINE, [SHAPES[name] for name in workshop.links], measured)
