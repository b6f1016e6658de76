"""Makes the photos to draw, the same in each run.

    python3 photos.py FOLDER IMAGES

FOLDER gets `24.jpg` (6000 by 4000 pixels), `12.jpg` (4000 by 3000), `small/000.jpg` to `small/199.jpg` (320 by 240), and
`small/000.webp` to `small/199.webp`, the same photos in the size of Immich's thumbnails. They are put together from the photos in
IMAGES, each as sharp as it is there: an enlarged one would be easier to decode than any photo.
"""
import os
import pathlib
import subprocess
import sys

LARGE = {"24": (6000, 4000), "12": (4000, 3000)}
SMALL = 200
SMALL_SIZE = (320, 240)
QUALITY = "90"
WEBP_WIDTH, WEBP_QUALITY = "250", "80"


def pixels(file, *arguments):
    """Width, height and the rows of a JPEG."""
    ppm = subprocess.run(["djpeg", "-ppm", "-rgb", *arguments, file], check=True, capture_output=True).stdout
    kind, size, depth, rest = ppm.split(b"\n", 3)
    assert kind == b"P6" and depth == b"255"
    width, height = map(int, size.split())
    return width, height, [rest[3 * width * row:3 * width * (row + 1)] for row in range(height)]


def write(file, size, rows):
    """Writes rows as a JPEG, or as a reduced WebP."""
    ppm = b"P6\n%d %d\n255\n" % size + b"".join(rows)
    command = (
        ["cwebp", "-quiet", "-q", WEBP_QUALITY, "-resize", WEBP_WIDTH, "0", "-o", "-", "--", "-"] if file.suffix == ".webp"
        else ["cjpeg", "-quality", QUALITY])
    file.write_bytes(subprocess.run(command, input=ppm, check=True, capture_output=True).stdout)


def mosaic(size, photos):
    """Rows of a mosaic of photos."""
    width, height = size
    rows, turn = [], 0
    while len(rows) < height:
        beside, across = [], 0
        while across < width:
            photo = photos[turn % len(photos)]
            beside.append(photo)
            across += photo[0]
            turn += 1
        for row in range(min(photo[1] for photo in beside)):
            rows.append(b"".join(photo[2][row] for photo in beside)[:3 * width])
    return rows[:height]


def small(index, photos):
    """A piece of a photo, different for each index."""
    width, height, rows = photos[index % len(photos)]
    left = index * 7 % (width - SMALL_SIZE[0] + 1)
    top = index * 5 % (height - SMALL_SIZE[1] + 1)
    return [row[3 * left:3 * (left + SMALL_SIZE[0])] for row in rows[top:top + SMALL_SIZE[1]]]


def write_all(folder, images):
    """Writes everything."""
    sources = [file for file in sorted(images.glob("*.jpg")) if file.stat().st_size > 100_000]
    photos = [photo for photo in (pixels(file) for file in sources) if photo[0] >= 1000]
    reduced = [photo for photo in (pixels(file, "-scale", "1/2") for file in sources)
               if photo[0] >= SMALL_SIZE[0] and photo[1] >= SMALL_SIZE[1]]
    for name, size in LARGE.items():
        write(folder / f"{name}.jpg", size, mosaic(size, photos))
    (folder / "small").mkdir()
    for index in range(SMALL):
        for kind in ("jpg", "webp"):
            write(folder / f"small/{index:03d}.{kind}", SMALL_SIZE, small(index, reduced))


if __name__ == "__main__":
    target, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    # Make them under a temporary name, so that they are complete or absent.
    draft = target.with_name(target.name + f".{os.getpid()}")
    draft.mkdir(parents=True)
    write_all(draft, source)
    draft.rename(target)
