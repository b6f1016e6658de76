"""The contact sheet: a key to the last of many thumbnails that were never drawn before, scrolling, and written bytes."""
import re
import shutil
import statistics

from figure import Figure, percentile
from process import Trouble, run
from terminal import Terminal

PHOTOS = 2_400
#: The contact sheet shows at least this many thumbnails in a window of this size.
SHOWN = 60
ROWS, COLUMNS = 82, 210
#: The columns of a window with a pane.
WIDE = 400
#: Rows of the sheet to scroll by, in a window of 80 by 24, and the seconds between them.
SCROLLED, PAUSE = 500, 1 / 30
ROUNDS = 5
STEPS = 100
#: After this many seconds without output all is drawn.
DRAWN = 0.4
TAB, END, HOME, RIGHT, DOWN, PANE = "\t", "\x1bOF", "\x1bOH", "l", "j", "i"
PIXELS = {"cells": "none", "sixels": "sixel", "kitty": "kitty"}
#: Milliseconds.
LIMITS = {"cells": 100, "sixels": 150, "kitty": 150}
FRAME_LIMIT = 16


def gallery(workshop):
    """A gallery whose thumbnails are all different, and a home that has cached them."""
    folder = workshop.folder_for("sheet")
    small = sorted((workshop.photos() / "small").glob("*.jpg"))
    for index in range(PHOTOS):
        # The files differ, so that no thumbnail is known from another.
        data = small[index % len(small)].read_bytes()
        comment = f"{index}".encode()
        (folder / f"{index}.jpg").write_bytes(
            data[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + data[2:])
    photos = "".join(
        f'<photo id="{index}" name="Photo {index:04d}" date="2006-07-{1 + index // 1_440:02d}T{index // 60 % 24:02d}:'
        f'{index % 60:02d}:00Z"><image kind="image" srcURL="{index}.jpg"/><image kind="thumbnail" srcURL="{index}.jpg"/></photo>'
        for index in range(PHOTOS))
    file = folder / "gallery.xml"
    file.write_text(f"<album>{photos}</album>", encoding="utf-8")
    home = workshop.folder_for("home")
    run([workshop.binary, "sync", file], workshop.environment(home))
    return file, home


def opened(workshop, file, home, pixels, rows=ROWS, columns=COLUMNS):
    """A terminal with the contact sheet. Vitrine remembers the view and the photo of the last run."""
    terminal = Terminal(
        [workshop.binary, "--offline", "--pixels", pixels, file], workshop.environment(home), rows=rows, columns=columns)
    if terminal.until(lambda screen: "Photo " in screen.text) is None:
        terminal.close()
        raise Trouble("The gallery was not shown within ten seconds.")
    terminal.rest(0.5)
    if "Tab sheet" in terminal.screen.text:
        terminal.type(TAB)
        terminal.rest(0.5)
    return terminal


def drawn(terminal, key):
    """Milliseconds from a key until everything is drawn, and the output."""
    pressed = last = terminal.type(key)
    output = []
    while True:
        pieces = list(terminal.output(DRAWN))
        if not pieces:
            return (last - pressed) * 1000, b"".join(output)
        last = pieces[-1][0]
        output += [data for _, data in pieces]


def jump(workshop, file, home, pixels):
    """Milliseconds from a jump to the last thumbnail of the other end of the gallery, and what was drawn."""
    with opened(workshop, file, home, pixels) as terminal:
        # The pane beside the sheet shows its photo only after the selection has rested.
        terminal.type(PANE)
        terminal.rest(0.5)
        key = HOME if "Photo 0000" not in terminal.screen.text else END
        before = names(terminal)
        milliseconds, output = drawn(terminal, key)
        terminal.screen.feed(output)
        found = names(terminal)
        if len(found) < SHOWN or found & before:
            raise Trouble(f"The contact sheet shows {len(found)} photos, {len(found & before)} of them from before.")
        return milliseconds, len(found), len(output)


def names(terminal):
    """The names of the shown photos."""
    return set(re.findall(r"Photo \d{4}", terminal.screen.text))


def at_first_photo(workshop, file, home, pixels="none", rows=ROWS, columns=WIDE):
    """A terminal with the contact sheet at the first photo."""
    terminal = opened(workshop, file, home, pixels, rows, columns)
    if "Photo 0000" not in terminal.screen.text:
        terminal.type(HOME)
        terminal.rest(0.5)
    return terminal


def scrolling(workshop, file, home, pixels):
    """Milliseconds from each key of a scroll to its frame."""
    times = []
    with at_first_photo(workshop, file, home, pixels, rows=24, columns=80) as terminal:
        for _ in range(SCROLLED):
            pressed = terminal.type(DOWN)
            shown = terminal.change(1)
            if shown is None:
                raise Trouble(f"The sheet ended after {len(times)} rows.")
            times.append((shown - pressed) * 1000)
            terminal.rest_for(max(0, PAUSE - (terminal.now() - pressed)))
    return times


def step_bytes(workshop, file, home):
    """The bytes that steps of the cursor write."""
    with at_first_photo(workshop, file, home) as terminal:
        before = terminal.received
        for _ in range(STEPS):
            terminal.type(RIGHT)
            terminal.rest_for(0.05)
        terminal.rest(0.5)
        return terminal.received - before


def measure(workshop):
    file, home = gallery(workshop)
    for name, pixels in PIXELS.items():
        times, counts, sizes = zip(*[jump(workshop, file, home, pixels) for _ in range(ROUNDS)])
        yield Figure(
            "sheet", f"{counts[0]} thumbnails never drawn before, in {name}", ours=statistics.median(times), unit="ms",
            limit=LIMITS[name], note=f"{ROUNDS} jumps, {min(times):.0f} to {max(times):.0f} ms; {statistics.median(sizes):,.0f} bytes")
    for name, pixels in PIXELS.items():
        times = scrolling(workshop, file, home, pixels)
        yield Figure(
            "sheet", f"{SCROLLED} rows at 30 a second, in {name}, worst", ours=max(times), unit="ms", limit=FRAME_LIMIT,
            note=f"p50 {statistics.median(times):.1f} ms, p99 {percentile(times, 99):.1f} ms")
    yield Figure("sheet", f"{STEPS} steps of the cursor", ours=step_bytes(workshop, file, home), unit="bytes")
    shutil.rmtree(file.parent)
