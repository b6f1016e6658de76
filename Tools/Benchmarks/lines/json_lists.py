"""The JSON parser against yajl, the fastest streaming parser in Debian, on a list like those of photo servers."""
import json
import random
import shutil
import statistics
import uuid

from figure import Figure
from process import Trouble, peak_of, work_of

LINE = "json"
ITEMS = 24_000
#: The least part of yajl's speed, and the most MiB that a list of ten times the length adds.
SPEED, GROWTH = 0.5, 1
ROUNDS = 9


def photo(number, chance):
    """The properties of a photo, as photo servers list them."""
    return {
        "id": str(uuid.UUID(int=chance.getrandbits(128))), "originalFileName": f"IMG_{number:06}.jpg",
        "fileCreatedAt": "2019-08-02T20:31:00.000Z", "localDateTime": "2019-08-02T22:31:00.000Z",
        "updatedAt": "2026-01-01T00:00:00.000Z", "checksum": f"{chance.getrandbits(160):040x}",
        "thumbhash": f"{chance.getrandbits(200):050x}", "type": "IMAGE", "isFavorite": number % 7 == 0,
        "isTrashed": False, "originalMimeType": "image/jpeg", "width": 6000, "height": 4000, "duration": None,
        "originalPath": f"/photos/2019/Sommer in der Schweiz/Zürich — {number % 31:02}/IMG_{number:06}.jpg",
        "exifInfo": {
            "make": "Camera & Co.", "model": "Model \"One\"", "exposureTime": "1/250", "fNumber": 5.6, "iso": 100,
            "latitude": 47.3769 + number / 1e6, "longitude": 8.5417, "city": "Zürich", "description": "",
            "fileSizeInByte": 5_242_880 + number},
        "people": [], "tags": ["holiday", "lake"], "libraryId": None, "ownerId": str(uuid.UUID(int=7)),
    }


def make(workshop, items):
    """A file with a list."""
    file = workshop.folder / f"list-{items}.json"
    if not file.exists():
        chance = random.Random(7)
        draft = file.with_suffix(".draft")
        with open(draft, "w", encoding="utf-8") as out:
            json.dump({"assets": {"items": [photo(number, chance) for number in range(items)]}}, out,
                      ensure_ascii=False, separators=(",", ":"))
        draft.rename(file)
    return file


def measure(workshop):
    if not shutil.which("json_verify"):
        raise Trouble("json_verify is missing; Tools/Scripts/install-packages bench installs it.")
    tool = workshop.binary.with_name("json-check")
    if not tool.exists():
        raise Trouble(f"{tool} is missing; swift build -c release --product json-check builds it.")
    file, short = make(workshop, ITEMS), make(workshop, ITEMS // 10)
    environment = workshop.environment(workshop.folder_for("home"))
    mine, theirs = [], []
    for _ in range(ROUNDS):
        mine.append(work_of([tool, file], environment))
        theirs.append(work_of(["sh", "-c", f"exec json_verify -q <'{file}'"], environment))
    size = file.stat().st_size / 1e6
    yield Figure(
        LINE, f"a JSON list of {size:.0f} MB, processor time", ours=statistics.median(mine) * 1000, unit="ms",
        theirs=statistics.median(theirs) * 1000, ratio=statistics.median(o / t for o, t in zip(mine, theirs)),
        limit=1 / SPEED, limited="ratio", note="theirs: json_verify")
    growth = peak_of([tool, file], environment) - peak_of([tool, short], environment)
    yield Figure(
        LINE, "… additional memory, compared with a tenth of the list", ours=max(growth, 0), unit="MiB", limit=GROWTH)
