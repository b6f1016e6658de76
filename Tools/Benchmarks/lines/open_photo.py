"""From the key that opens a large cached photo to its first part, and to the sharp photo."""
import shutil
import statistics

from figure import Figure
from process import Trouble, run
from terminal import Terminal

#: Milliseconds until a part of the photo appears.
LIMIT = 100
#: The share of the time until a progressive photo is sharp.
FIRST_SCAN = 0.35
ROUNDS = 11
#: The distance of opened photos, since neighbours are drawn ahead.
STEP = 5
ENTER, BACK, DOWN = "\r", "q", "j"
#: Of the cells that a photo has in a terminal of 80 by 24: a row of the list has far fewer.
CELLS = 800
BLOCKS = frozenset("▀▄█▌▐▖▗▘▝▚▞▙▟▛▜")
#: After this many seconds without output the photo is sharp.
SHARP = 0.5


def is_photo(screen):
    return sum(line.count(block) for line in screen.body for block in BLOCKS) >= CELLS


def gallery(workshop, photo):
    """A gallery of photos of 24 MP with thumbnails, and a home that has cached all of it."""
    folder = workshop.folder_for("open-photo")
    shutil.copyfile(photo, folder / "24.jpg")
    for index in range(ROUNDS * STEP):
        shutil.copyfile(workshop.photos() / f"small/{index:03d}.jpg", folder / f"thumbnail-{index}.jpg")
        (folder / f"photo-{index}.jpg").symlink_to("24.jpg")
    photos = "".join(
        f'<photo id="{index}" name="Photo {index:04d}" date="2006-07-30T07:{index:02d}:00Z"><image kind="image" '
        f'srcURL="photo-{index}.jpg"/><image kind="thumbnail" srcURL="thumbnail-{index}.jpg"/></photo>'
        for index in range(ROUNDS * STEP))
    file = folder / "gallery.xml"
    file.write_text(f"<album>{photos}</album>", encoding="utf-8")
    home = workshop.folder_for("home")
    run([workshop.binary, "sync", "--photos", file], workshop.environment(home))
    return file, home


def opened(terminal):
    """Milliseconds until a part of the photo appears, and until it is sharp."""
    pressed = terminal.type(ENTER)
    first = terminal.until(is_photo)
    if first is None:
        raise Trouble("The photo was not shown within ten seconds.")
    last = first
    while (shown := terminal.frame(SHARP)) is not None:
        last = shown
    return (first - pressed) * 1000, (last - pressed) * 1000


def times(workshop, photo):
    """Milliseconds until a part of each photo appears, and until it is sharp."""
    file, home = gallery(workshop, photo)
    found = []
    with Terminal([workshop.binary, "--offline", file], workshop.environment(home)) as terminal:
        if terminal.until(lambda screen: "Photo 0000" in screen.text) is None:
            raise Trouble("The gallery was not shown within ten seconds.")
        for _ in range(ROUNDS):
            terminal.rest(0.5)
            found.append(opened(terminal))
            terminal.type(BACK)
            terminal.rest(0.3)
            terminal.type(DOWN * STEP)
    return found


def measure(workshop):
    first, whole = zip(*times(workshop, workshop.photos() / "24.jpg"))
    yield Figure(
        "open-photo", "a photo of 24 MP that is here: something of it", ours=statistics.median(first), unit="ms",
        limit=LIMIT, note=f"{ROUNDS} photos, {min(first):.1f} to {max(first):.1f} ms")
    yield Figure(
        "open-photo", "… all of it, sharp", ours=statistics.median(whole), unit="ms",
        note=f"{min(whole):.1f} to {max(whole):.1f} ms")
    pairs = times(workshop, workshop.progressive_photo())
    yield Figure(
        "open-photo", "a progressive one: something of it, against all", ours=statistics.median(f for f, _ in pairs),
        unit="ms", theirs=statistics.median(w for _, w in pairs), ratio=statistics.median(f / w for f, w in pairs),
        limit=FIRST_SCAN, limited="ratio")
