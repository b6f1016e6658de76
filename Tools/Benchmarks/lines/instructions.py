"""The instructions of the screens' process, which do not depend on other work of the machine."""
import re
import shutil

from figure import Figure
from process import Trouble
from terminal import Terminal

#: The values in millions, on x86-64 with Debian 12 and Swift 6.3. Other versions of the compiler and the libraries have others.
USUAL = {"start": 38.8, "step": 1.74, "page": 1.69}
#: The rise that is over the limit.
RISE = 1.03
#: The least of so many counts is taken, since a delay may cause another frame.
ROUNDS = 3
STEPS = 90
PAGES = 20
DOWN, PAGE_DOWN, PAGE_UP, QUIT = "j", "\x1b[6~", "\x1b[5~", "Q"
#: The time limit of each frame. The tool makes programs fifty times slower.
PATIENCE = 60.0


def counted(workshop, gallery, home, keys):
    """The millions of instructions from the start of the program to its end, with some keys in between."""
    folder = workshop.folder_for("instructions")
    # Vitrine remembers the photo of the last run.
    copy = workshop.folder_for("home")
    shutil.copytree(home, copy, dirs_exist_ok=True)
    tool = shutil.which("valgrind")
    if tool is None:
        raise Trouble("valgrind is missing.")
    arguments = ["--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={folder}/%p"]
    with Terminal(
            [tool, *arguments, workshop.binary, "--offline", gallery.file], workshop.environment(copy)) as terminal:
        if terminal.until(lambda screen: gallery.first_names[0] in screen.text, PATIENCE) is None:
            raise Trouble("The gallery was not shown.")
        terminal.rest(1)
        for key in keys:
            terminal.type(key)
            if terminal.change(PATIENCE) is None:
                raise Trouble(f"The key {key!r} did nothing.")
        terminal.rest(0.5)
        terminal.type(QUIT)
        terminal.ending(PATIENCE)
        # Processes that it starts have logs of their own.
        log = (folder / str(terminal.process)).read_text(encoding="utf-8")
    workshop.discard(copy)
    if not (total := re.search(r"Collected : (\d+)", log)):
        raise Trouble("valgrind has counted nothing.")
    return int(total[1]) / 1e6


def measure(workshop):
    gallery = workshop.gallery(workshop.few)
    home = workshop.home(gallery)

    def least(keys):
        return min(counted(workshop, gallery, home, keys) for _ in range(ROUNDS))

    start = least([])
    values = {
        "start": start,
        "step": (least([DOWN] * STEPS) - start) / STEPS,
        "page": (least([PAGE_DOWN, PAGE_UP] * (PAGES // 2)) - start) / PAGES,
    }
    texts = {
        "start": f"instructions of a start with {gallery.photos} photos, and the end",
        "step": "… of a step of the cursor, also at the lower edge of the list",
        "page": "… of a page",
    }
    for name, value in values.items():
        yield Figure(
            "instructions", texts[name], ours=value, unit="M", limit=RISE * USUAL[name],
            note=f"in millions; the least of {ROUNDS} counts by callgrind; usually {USUAL[name]}")
