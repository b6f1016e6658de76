"""Processor time of `vitrine show`, against chafa, timg and a minimal program."""
import pathlib
import shlex
from statistics import median

from figure import Figure
from process import run, work_of

ROUNDS = 5
CELLS, SMALL_CELLS = (80, 40), (20, 10)
#: 640 by 640 pixels: for output to a file, Vitrine's cells have 10 by 20. The other programs' cells and pictures are smaller.
PIXEL_CELLS = (64, 32)
#: The ratio to the other programs.
CHAFA, TIMG = 0.5, 0.6
RAW = 0.5
SIXELS, KITTY = 0.5, 0.6
MANY_CHAFA, MANY_TIMG = 0.3, 0.6
WEBP_CHAFA, WEBP_TIMG = 0.45, 0.6
#: The ratio to the minimal program.
LEAST = 1.3
LEAST_SOURCE = pathlib.Path(__file__).parents[1] / "limit/show_limit.c"
#: Many rounds, because the difference is smaller than the machine's variations.
LEAST_ROUNDS = 31


def size(cells):
    return f"{cells[0]}x{cells[1]}"


def vitrine(workshop, cells, *more):
    return [workshop.binary, "show", "--size", size(cells), "--colors", "full", *more]


def chafa(cells, *more):
    return ["chafa", "--size", size(cells), "--animate", "off", *more]


def timg(cells, *more):
    return ["timg", "-g", size(cells), "--frames=1", *more]


def least(workshop):
    """Builds the minimal program."""
    program = workshop.folder_for("limit") / "show_limit"
    run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, LEAST_SOURCE, "-ljpeg", "-lm"])
    return program


def compare(workshop, what, ours, theirs, name, limit, rounds=ROUNDS):
    """Runs both in turns. The ratio is the median of the pairs' ratios."""
    environment = workshop.environment(workshop.folder_for("show"))
    # Warm up the system's file cache, and do the work of the first run.
    work_of(ours, environment)
    work_of(theirs, environment)
    pairs = [(work_of(ours, environment), work_of(theirs, environment)) for _ in range(rounds)]
    return Figure(
        "show", f"{what}, against {name}", ours=median(o for o, _ in pairs) * 1000, unit="ms",
        theirs=median(t for _, t in pairs) * 1000, ratio=median(o / t for o, t in pairs), limit=limit, limited="ratio",
        details={"pairs": pairs})


def measure(workshop):
    folder = workshop.photos()
    limit = least(workshop)
    for name in ("24", "12"):
        photo, what = folder / f"{name}.jpg", f"{name} MP to {size(CELLS)} cells"
        ours = vitrine(workshop, CELLS, "--symbols", "sextant", "--pixels", "none", photo)
        yield compare(
            workshop, what, ours, chafa(CELLS, "-f", "symbols", "-c", "full", photo), "chafa", CHAFA)
        yield compare(workshop, what, ours, timg(CELLS, "-pq", photo), "timg", TIMG)
        yield compare(
            workshop, what, ours, [limit, photo, *map(str, CELLS)], "the least", LEAST, rounds=LEAST_ROUNDS)
    photo = folder / "24.jpg"
    yield compare(
        workshop, "24 MP in sixels", vitrine(workshop, PIXEL_CELLS, "--pixels", "sixel", photo),
        chafa(PIXEL_CELLS, "-f", "sixels", "--scale", "max", photo), "chafa", SIXELS)
    yield compare(
        workshop, "24 MP for kitty", vitrine(workshop, PIXEL_CELLS, "--pixels", "kitty", photo),
        timg(PIXEL_CELLS, "-pk", photo), "timg", KITTY)
    for raw, what in (("whole.cr2", "one preview of full size"), ("small.arw", "previews of 1.7 and 24 MP")):
        file = workshop.raw_photos() / raw
        # exiftool extracts what it calls the preview: in the second file, the small one.
        theirs = shlex.join(["exiftool", "-b", "-PreviewImage", str(file)]) + " | " + shlex.join(
            chafa(CELLS, "-f", "symbols", "-c", "full", "-"))
        yield compare(
            workshop, f"24 MP raw, {what}, to {size(CELLS)} cells",
            vitrine(workshop, CELLS, "--symbols", "sextant", "--pixels", "none", file), ["sh", "-c", theirs],
            "exiftool and chafa", RAW)
    for kind, what, limits in (("jpg", "JPEG", (MANY_CHAFA, MANY_TIMG)), ("webp", "WebP", (WEBP_CHAFA, WEBP_TIMG))):
        many = sorted((folder / "small").glob(f"*.{kind}"))
        ours = vitrine(workshop, SMALL_CELLS, "--symbols", "sextant", "--pixels", "none", *many)
        what = f"{len(many)} {what} thumbnails to {size(SMALL_CELLS)} cells"
        yield compare(
            workshop, what, ours, chafa(SMALL_CELLS, "-f", "symbols", "-c", "full", *many), "chafa", limits[0])
        yield compare(workshop, what, ours, timg(SMALL_CELLS, "-pq", *many), "timg", limits[1])
