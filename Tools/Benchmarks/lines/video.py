"""Frames a second of a video of 1920 × 1080 pixels in 160 by 50 cells, and keys meanwhile, against timg."""
import pathlib
import re
import time

from figure import Figure, percentile
from process import Trouble, run
from terminal import ANSWERS, END, Terminal

#: Columns and rows of the picture, and the rows of Vitrine's title and status line.
CELLS, LINES = (160, 50), 2
#: Frames a second and seconds of the video, and the seconds of a measurement.
RATE, LENGTH, SECONDS = 30, 20, 8
ROUNDS = 3
#: Vitrine's frames a second, divided by timg's, at least. A frame at either end may be missing.
LEAST = 0.98
#: Milliseconds, for 99 of 100 keys.
LIMIT = 16
KEYS = 200
#: Letters that neither a drawing nor a sequence of the terminal contains.
LETTERS = "QVWYU"
#: Only a frame of the video has so many bytes.
PICTURE = 1_000
#: Vitrine waits for no answers after the first one, so that one must come last for synchronised updates.
IN_ORDER = ANSWERS[1:] + ANSWERS[:1]
#: timg goes back to the first line before each frame.
BACK = re.compile(rb"\x1b\[\d+A")


def video(workshop):
    """A video that moves over a large photo, so that all cells change."""
    file = workshop.folder / "video-1080p30.mp4"
    if not file.exists():
        workshop.say("  making a video")
        photo = pathlib.Path(__file__).parents[3] / "TestGallery/images/dawn-ridge.jpg"
        run([
            "ffmpeg", "-v", "error", "-y", "-loop", "1", "-framerate", RATE, "-t", LENGTH, "-i", photo, "-vf",
            "scale=3840:2160,crop=1920:1080:x='n*3':y='n'", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "veryfast",
            "-f", "mp4", file.with_suffix(".draft")])
        file.with_suffix(".draft").rename(file)
    return file


def measure(workshop):
    file = video(workshop)
    ours, theirs, times = [], [], []
    for _ in range(ROUNDS):
        theirs.append(timg(workshop, file))
        with playing(workshop, file) as terminal:
            ours.append(frames(terminal))
        with playing(workshop, file) as terminal:
            times += keys(terminal, KEYS // ROUNDS)
    own, other = sorted(ours)[ROUNDS // 2], sorted(theirs)[ROUNDS // 2]
    # The table's limits are greatest values, so the ratio is timg's frames to Vitrine's.
    yield Figure(
        "video", f"frames a second of {RATE}, {CELLS[0]} by {CELLS[1]} cells", ours=own, theirs=other, ratio=other / own,
        limit=1 / LEAST, limited="ratio", note=f"timg; rounds: {told(ours)}, timg {told(theirs)}")
    yield Figure(
        "video", "a key while a video plays, p99", ours=percentile(times, 99), unit="ms", limit=LIMIT,
        note=f"{len(times)} keys; p50: {percentile(times, 50):.1f} ms")


def told(values):
    return ", ".join(f"{value:.1f}" for value in values)


def timg(workshop, file):
    """The frames a second of timg."""
    command = ["/usr/bin/env", "timg", "-E", "-ph", f"-g{CELLS[0]}x{CELLS[1]}", f"-t{SECONDS + 2}", file]
    home = workshop.folder_for("home")
    with Terminal(command, workshop.environment(home), rows=CELLS[1] + LINES, columns=CELLS[0]) as terminal:
        moments = []
        begun = time.perf_counter()
        for moment, data in terminal.output(SECONDS + 1):
            moments += [moment] * len(BACK.findall(data))
        counted = [moment for moment in moments if moment - begun > 0.5]
        if len(counted) < 2:
            raise Trouble("timg shows no frames.")
        return (len(counted) - 1) / (counted[-1] - counted[0])


def playing(workshop, file):
    """Vitrine, which plays the video."""
    folder, home = workshop.folder_for("films"), workshop.folder_for("home")
    film = folder / "film.mp4"
    # Vitrine does not follow links.
    film.hardlink_to(file)
    terminal = Terminal(
        [workshop.binary, "--symbols", "half", "--pixels", "none", "--colors", "full", film], workshop.environment(home),
        rows=CELLS[1] + LINES, columns=CELLS[0], answers=IN_ORDER)
    try:
        if terminal.until(lambda screen: "a play" in screen.text, 30) is None:
            raise Trouble("The poster was not shown within 30 seconds.")
        terminal.rest(0.5)
        terminal.type("a")
        if terminal.until(lambda screen: "playing" in screen.line(0), 10) is None:
            raise Trouble("The video does not play.")
    except BaseException:
        terminal.close()
        raise
    return terminal


def frames(terminal):
    """The frames a second of Vitrine. The screen is not emulated, because that would take longer than the frames."""
    moments, size = [], 0
    begun = time.perf_counter()
    for moment, data in terminal.output(SECONDS + 0.5):
        for index, part in enumerate(data.split(END)):
            if index and size > PICTURE:
                moments.append(moment)
            size = size + len(part) if not index else len(part)
    counted = [moment for moment in moments if moment - begun > 0.5]
    if len(counted) < 2:
        raise Trouble("Vitrine shows no frames.")
    return (len(counted) - 1) / (counted[-1] - counted[0])


def keys(terminal, count):
    """Milliseconds from a letter on the command line to its frame."""
    terminal.type(":")
    for _ in terminal.output(0.3):
        pass
    times = []
    for number in range(count):
        letter = LETTERS[number % len(LETTERS)]
        pressed = terminal.type(letter)
        for moment, data in terminal.output(1):
            if letter.encode() in data:
                times.append((moment - pressed) * 1000)
                break
        else:
            raise Trouble("A key had no effect.")
        # Other moments of a frame, each time.
        terminal.type("\x7f")
        for _ in terminal.output(0.03 + 0.037 * (number % 7) / 7):
            pass
    return times
