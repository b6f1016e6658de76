"""From the key that opens a large cached photo, or goes to the next one, to its first part and to the sharp photo."""
import re
import shutil
import statistics

from figure import Figure
from process import Trouble, run
from terminal import Terminal

#: Milliseconds until a part of the photo appears.
LIMIT = 100
#: Milliseconds until a part of the next photo appears, and until it is sharp. Vitrine draws it ahead.
NEXT_LIMIT, NEXT_SHARP_LIMIT = 16, 60
#: The share of the time until a progressive photo is sharp.
FIRST_SCAN = 0.35
ROUNDS = 11
#: The distance of opened photos, since neighbours are drawn ahead.
STEP = 5
ENTER, BACK, DOWN, NEXT = "\r", "q", "j", "]"
#: A key held down: its repetitions, and the seconds between them.
REPEATS, REPEAT = 40, 1 / 30
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
    shutil.copyfile(photo, folder / "0.jpg")
    # Neighbours differ, so that the screen shows which one it is.
    run(["jpegtran", "-flip", "horizontal", "-outfile", folder / "1.jpg", photo])
    for index in range(ROUNDS * STEP):
        shutil.copyfile(workshop.photos() / f"small/{index:03d}.jpg", folder / f"thumbnail-{index}.jpg")
        (folder / f"photo-{index}.jpg").symlink_to(f"{index % 2}.jpg")
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


def browsed(workshop, file, home):
    """A terminal with the list of photos."""
    terminal = Terminal([workshop.binary, "--offline", file], workshop.environment(home))
    if terminal.until(lambda screen: "Photo " in screen.text) is None:
        terminal.close()
        raise Trouble("The gallery was not shown within ten seconds.")
    terminal.rest(0.5)
    return terminal


def times(workshop, photo):
    """Milliseconds until a part of each photo appears, and until it is sharp."""
    file, home = gallery(workshop, photo)
    found = []
    with browsed(workshop, file, home) as terminal:
        for _ in range(ROUNDS):
            terminal.rest(0.5)
            found.append(opened(terminal))
            terminal.type(BACK)
            terminal.rest(0.3)
            terminal.type(DOWN * STEP)
    return found


def number(screen):
    """The number of the photo that the screen names."""
    found = re.search(r"Photo (\d{4})", screen.text)
    return int(found[1]) if found else None


def step(terminal, sharp):
    """Milliseconds until a part of the next photo appears, and until it is sharp. Adds the sharp screen to `sharp`."""
    terminal.rest(SHARP)
    before, frames = terminal.screen.body, []
    pressed = terminal.type(NEXT)
    while (shown := terminal.frame(SHARP)) is not None:
        if is_photo(terminal.screen) and terminal.screen.body != before:
            frames.append((shown, terminal.screen.body))
    if not frames:
        raise Trouble("The next photo was not shown.")
    last = frames[-1][1]
    sharp[number(terminal.screen) % 2] = last
    return (frames[0][0] - pressed) * 1000, (next(shown for shown, body in frames if body == last) - pressed) * 1000


def held(terminal, sharp):
    """Photos a second that appear sharp while the key is held."""
    terminal.rest(SHARP)
    numbers, begun = set(), terminal.now()
    for index in range(REPEATS):
        terminal.type(NEXT)
        while (left := begun + (index + 1) * REPEAT - terminal.now()) > 0:
            terminal.frame(left)
            shown = number(terminal.screen)
            if shown is not None and terminal.screen.body == sharp[shown % 2]:
                numbers.add(shown)
    return len(numbers) / (REPEATS * REPEAT)


def next_photos(workshop, photo):
    """The times of ``step``, and the result of ``held``."""
    file, home = gallery(workshop, photo)
    sharp = {}
    with browsed(workshop, file, home) as terminal:
        opened(terminal)
        steps = [step(terminal, sharp) for _ in range(ROUNDS)]
        # Vitrine starts again where it ended.
        terminal.type(BACK)
        terminal.rest(0.3)
    with browsed(workshop, file, home) as terminal:
        opened(terminal)
        return steps, held(terminal, sharp)


def measure(workshop):
    first, whole = zip(*times(workshop, workshop.photos() / "24.jpg"))
    yield Figure(
        "open-photo", "a photo of 24 MP that is here: something of it", ours=statistics.median(first), unit="ms",
        limit=LIMIT, note=f"{ROUNDS} photos, {min(first):.1f} to {max(first):.1f} ms")
    yield Figure(
        "open-photo", "… all of it, sharp", ours=statistics.median(whole), unit="ms",
        note=f"{min(whole):.1f} to {max(whole):.1f} ms")
    steps, rate = next_photos(workshop, workshop.photos() / "24.jpg")
    first, whole = zip(*steps)
    yield Figure(
        "open-photo", "the next photo of 24 MP: something of it", ours=statistics.median(first), unit="ms",
        limit=NEXT_LIMIT, note=f"{ROUNDS} photos, {min(first):.1f} to {max(first):.1f} ms")
    yield Figure(
        "open-photo", "… all of it, sharp", ours=statistics.median(whole), unit="ms",
        limit=NEXT_SHARP_LIMIT, note=f"{min(whole):.1f} to {max(whole):.1f} ms")
    yield Figure("open-photo", "… photos a second, sharp, while the key is held", ours=rate, unit="")
    pairs = times(workshop, workshop.progressive_photo())
    yield Figure(
        "open-photo", "a progressive one: something of it, against all", ours=statistics.median(f for f, _ in pairs),
        unit="ms", theirs=statistics.median(w for _, w in pairs), ratio=statistics.median(f / w for f, w in pairs),
        limit=FIRST_SCAN, limited="ratio")
