"""Publishing photos of 12 MP, against vipsthumbnail; and a second run without changes."""
import shutil
import statistics

from figure import Figure
from process import Trouble, run

#: Of vipsthumbnail's time; and of the first run's.
LIMIT, AGAIN = 0.8, 0.02
PHOTOS, ROUNDS = 1_000, 3
SIZE, QUALITY = "320x240", 80


def ours(workshop, folder, home):
    """The seconds of the first and the second run."""
    command = [workshop.binary, "publish", folder]
    shutil.rmtree(folder / "thumbnails", ignore_errors=True)
    (folder / "gallery.xml").unlink(missing_ok=True)
    first = run(command, workshop.environment(home))
    count(folder / "thumbnails", PHOTOS)
    before = [entry.stat().st_mtime_ns for entry in sorted(folder.rglob("*"))]
    again = run(command, workshop.environment(home))
    if [entry.stat().st_mtime_ns for entry in sorted(folder.rglob("*"))] != before:
        raise Trouble("The second run wrote something.")
    return first, again


def theirs(workshop, photos):
    """The seconds of vipsthumbnail, which takes all files at once."""
    if not shutil.which("vipsthumbnail"):
        raise Trouble("vipsthumbnail is not installed.")
    target = workshop.folder_for("vips")
    seconds = run(["vipsthumbnail", "--size", SIZE, "-o", f"{target}/%s.jpg[Q={QUALITY},strip]", *photos])
    count(target, PHOTOS)
    workshop.discard(target)
    return seconds


def count(folder, expected):
    """Checks the result of a run."""
    found = len(list(folder.glob("*.jpg")))
    if found != expected:
        raise Trouble(f"{folder.name} holds {found} thumbnails of {expected}.")


def measure(workshop):
    folder, home = workshop.camera_photos(PHOTOS), workshop.folder_for("home")
    photos = sorted(folder.glob("*.jpg"))
    pairs, agains = [], []
    for _ in range(ROUNDS):
        first, again = ours(workshop, folder, home)
        pairs.append((first, theirs(workshop, photos)))
        agains.append(again / first)
        workshop.say(f"    vitrine: {first:.2f} s, again {again:.3f} s; vipsthumbnail: {pairs[-1][1]:.2f} s")
    mine, other = ([pair[side] for pair in pairs] for side in (0, 1))
    megabytes = sum(photo.stat().st_size for photo in photos) / 1e6
    yield Figure(
        "publish", f"{PHOTOS:,} photos of 12 MP", ours=statistics.median(mine), unit="s",
        theirs=statistics.median(other), ratio=statistics.median(o / t for o, t in pairs), limit=LIMIT, limited="ratio",
        note=f"theirs: vipsthumbnail --size {SIZE}; {megabytes / PHOTOS:.1f} MB a photo, {ROUNDS} rounds",
        details={"pairs": pairs})
    yield Figure(
        "publish", "… again, of the first run's time", ours=statistics.median(agains) * 100, unit="%", limit=AGAIN * 100)
