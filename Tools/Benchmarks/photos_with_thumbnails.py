"""Makes photos of 5 MB with a thumbnail of 160 by 120 pixels in their Exif data, as cameras write them.

    python3 photos_with_thumbnails.py FOLDER IMAGE COUNT

It makes one photo: IMAGE with the thumbnail before it, and noise after its end. The rest are hard links to it.
"""
import os
import pathlib
import random
import struct
import subprocess
import sys

SIZE = 5_000_000
#: Types of values in Exif data.
SHORT, LONG = 3, 4


def directory(entries, following):
    """A directory of Exif data: tags with values of up to four bytes, and the position of the next directory."""
    rows = (struct.pack("<HHI", tag, kind, 1) + struct.pack("<HH" if kind == SHORT else "<I", *(
        (value, 0) if kind == SHORT else (value,))) for tag, kind, value in entries)
    return struct.pack("<H", len(entries)) + b"".join(rows) + struct.pack("<I", following)


def exif(thumbnail):
    """The segment with Exif data that contain a thumbnail."""
    def parts(second, picture):
        first = directory([(0x0112, SHORT, 1)], second)
        # Compression: JPEG; then the picture's place and size.
        other = directory([(0x0103, SHORT, 6), (0x0201, LONG, picture), (0x0202, LONG, len(thumbnail))], 0)
        return first, other

    begun = 8
    lengths = [len(part) for part in parts(0, 0)]
    first, other = parts(begun + lengths[0], begun + sum(lengths))
    data = b"Exif\0\0" + b"II*\0" + struct.pack("<I", begun) + first + other + thumbnail
    return b"\xff\xe1" + struct.pack(">H", len(data) + 2) + data


def write(folder, image, count):
    """Writes the photo and the links."""
    thumbnail = subprocess.run(
        ["convert", image, "-resize", "160x120^", "-gravity", "center", "-extent", "160x120", "-strip", "-quality", "90",
         "jpeg:-"], check=True, capture_output=True).stdout
    photo = subprocess.run(["convert", image, "-strip", "jpeg:-"], check=True, capture_output=True).stdout
    whole = photo[:2] + exif(thumbnail) + photo[2:]
    (folder / "IMG_0000.jpg").write_bytes(whole + random.Random(42).randbytes(SIZE - len(whole)))
    for number in range(1, count):
        os.link(folder / "IMG_0000.jpg", folder / f"IMG_{number:04d}.jpg")


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1])
    draft = target.with_name(target.name + f".{os.getpid()}")
    draft.mkdir(parents=True)
    write(draft, pathlib.Path(sys.argv[2]), int(sys.argv[3]))
    draft.rename(target)
