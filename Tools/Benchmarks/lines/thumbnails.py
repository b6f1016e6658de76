"""All thumbnails of a gallery whose list is known, over links, against programs that only fetch the same files."""
import shutil

import contest
from contest import Entry
from downloaders import DOWNLOADERS
from figure import Figure
from network import on_links, thrown_away
from pictures import list_file, thumbnail
from process import Trouble
from shapes import SHAPES, TUNED

LINE = "thumbnails"
#: The ratio to the best setting of the best other program on the link.
LIMIT = 1.05
#: The ratio to the line's own time, if it holds this many thumbnails.
LEAST, FEW = 1.2, 48 * 12_000
#: The ratio to four transfers, by link.
FIXED, FIXED_BY_LINK = 1.05, {"b": 0.11}
#: The ratio to the best of these fixed numbers.
WIDTHS, BEST_WIDTH = (4, 16, 64), 1.15
#: Percent of wasted bytes.
WASTE = 3


def ours(network, scheme, sizes, options=()):
    """Vitrine, with a cache that holds only the list."""
    workshop = network.workshop
    address = network.server.address(scheme, list_file("large", len(sizes)))

    def go():
        home = network.home(address)
        network.link.restart()
        try:
            seconds = network.run([workshop.binary, "sync", *options, address], home)
            counts = network.link.counts()
            count, stored = network.stored(home)
        finally:
            shutil.rmtree(home)
        if (count, stored) != (len(sizes), sum(sizes)):
            raise Trouble(f"Vitrine has {count} thumbnails of {len(sizes)}, {stored} bytes of {sum(sizes)}.")
        return seconds, {"link": counts, "thrown_away": thrown_away(counts, scheme, count + 1, stored)}

    return Entry(" ".join(("vitrine", "h2" if scheme == "https" else "http", *options)), go, is_ours=True)


def theirs(network, downloader, paths, sizes):
    """Another program, with the addresses in a file."""
    def go():
        seconds, lacking = downloader.fetch(network, paths, sizes)
        if lacking:
            raise Trouble(f"{downloader.name} lacks {lacking} files.")
        return seconds, {}

    return Entry(downloader.name, go)


def measured(network):
    workshop, shape = network.workshop, network.shape
    paths = [thumbnail(index) for index in range(shape.thumbnails)]
    sizes = [(workshop.pictures() / path).stat().st_size for path in paths]
    plain, secure = (ours(network, scheme, sizes) for scheme in ("http", "https"))
    fixed = [ours(network, "http", sizes, ("--transfers", str(width))) for width in WIDTHS]
    peers = {
        downloader: theirs(network, downloader, paths, sizes) for downloader in DOWNLOADERS if downloader.is_here
    }
    everybody = [plain, secure, *fixed, *peers.values()]
    contest.hold(network, everybody, workshop.rounds)
    what = f"{shape.thumbnails:,} thumbnails over {shape.text}"
    yield against_others(what, plain, list(peers.values()), everybody)
    secure_peers = [entry for downloader, entry in peers.items() if downloader.scheme == "https"]
    yield against_others("… https, with HTTP/2", secure, secure_peers, everybody)
    yield against_line(shape, plain, sizes)
    limit = FIXED_BY_LINK.get(shape.name, FIXED)
    yield contest.compare(LINE, "… against four at once", plain, fixed[0], limit)
    yield against_widths(plain, fixed)
    for entry in (plain, secure):
        share = max(note.get("thrown_away", 0) for note in entry.notes) * 100
        yield Figure(LINE, f"… bytes thrown away, {entry.name}", ours=share, unit="%", limit=WASTE)


def against_others(what, entry, peers, everybody):
    """Compares with the best other program."""
    best = contest.best(peers)
    said = "; ".join(peer.text for peer in peers)
    return contest.compare(
        LINE, what, entry, best, LIMIT, f"theirs: {best.name}. In {len(entry.seconds)} rounds, seconds: {said}",
        details=contest.details(everybody))


def against_line(shape, entry, sizes):
    """Compares with the line's own time."""
    what = "… against what the line takes at least"
    if not entry.counts:
        return Figure(LINE, what, missing=f"{entry.name} {entry.trouble}", failed=True)
    least = shape.least(sizes)
    is_limited = shape.name in TUNED and shape.product <= FEW
    return Figure(
        LINE, what, ours=entry.median, unit="s", theirs=least, ratio=entry.median / least,
        limit=LEAST if is_limited else None, limited="ratio")


def against_widths(entry, fixed):
    """Compares with the best fixed number of transfers."""
    counted = [one for one in fixed if one.counts]
    best = min(counted, key=lambda one: one.median)
    said = "; ".join(one.text for one in fixed)
    return contest.compare(
        LINE, "… against the best fixed number", entry, best, BEST_WIDTH, f"theirs: {best.name}. Seconds: {said}")


def measure(workshop):
    yield from on_links(workshop, LINE, [SHAPES[name] for name in workshop.links], measured)
