"""Makes the files to fetch over links, the same in each run, byte for byte.

    python3 pictures.py FOLDER THUMBNAIL

FOLDER gets `small` (2,000 thumbnails of 6 to 18 KB), `middle` (10 photos of 400 KB), `large` (20 of 3 MB), and lists of
galleries that name them. All are THUMBNAIL with noise after its end: valid pictures that cannot be
compressed on the way.
"""
import datetime
import os
import pathlib
import random
import sys

THUMBNAILS = 2_000
SMALLEST, LARGEST = 6_000, 18_000
#: Number and size of photos.
PHOTOS = {"middle": (10, 400_000), "large": (20, 3_000_000)}
#: Galleries with photos of one kind, and one whose last photo differs.
KINDS = {"middle": ("middle", "middle"), "large": ("large", "large"), "mixed": ("large", "middle")}
#: The sizes of galleries.
COUNTS = (1, 60, 200, 800, THUMBNAILS, 2 * THUMBNAILS)


def thumbnail(index):
    """The path of a thumbnail. Larger galleries repeat thumbnails."""
    return f"small/{index % THUMBNAILS:04d}.jpg"


def photo(kind, index, count):
    """The address of a photo. Files repeat, so a query makes each address unique."""
    folder = KINDS[kind][index == count - 1]
    return f"{folder}/{index % PHOTOS[folder][0]:02d}.jpg?{index}"


def size_of_last(kind):
    """The bytes of a gallery's last photo."""
    return PHOTOS[KINDS[kind][1]][1]


def list_file(kind, count):
    """The list of a gallery."""
    return f"{kind}-{count}.xml"


def gallery_list(kind, count):
    """The text of a gallery's list. Its first photo comes first by date."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<album>\n'
    for index in range(count):
        date = (datetime.datetime(2000, 1, 1) + datetime.timedelta(days=index)).isoformat() + "Z"
        yield (
            f'  <photo name="Photo {index:04d}" date="{date}" id="photo-{index:04d}">\n'
            f'    <image kind="image" srcURL="{photo(kind, index, count)}"/>\n'
            f'    <image kind="thumbnail" srcURL="{thumbnail(index)}"/>\n  </photo>\n')
    yield "</album>\n"


def write(folder, picture):
    """Writes everything."""
    noise = random.Random(42)

    def write_picture(path, size):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(picture + noise.randbytes(size - len(picture)))

    for index in range(THUMBNAILS):
        write_picture(folder / thumbnail(index), noise.randint(SMALLEST, LARGEST))
    for kind, (count, size) in PHOTOS.items():
        for index in range(count):
            write_picture(folder / kind / f"{index:02d}.jpg", size)
    for kind in KINDS:
        for photos in COUNTS:
            (folder / list_file(kind, photos)).write_text("".join(gallery_list(kind, photos)), encoding="utf-8")


if __name__ == "__main__":
    target, thumbnail_file = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    # Make it under a temporary name, so that it is complete or absent.
    draft = target.with_name(target.name + f".{os.getpid()}")
    draft.mkdir(parents=True)
    write(draft, thumbnail_file.read_bytes())
    draft.rename(target)
