"""Makes cameras' raw files around a JPEG of 24 megapixels, with the sensor's data, which no program here reads.

    python3 raw_photos.py FOLDER JPEG

FOLDER gets `whole.cr2`, whose only preview has the photo's size, as Canon's have, and `small.arw` with another preview of 1,616
by 1,080 pixels, as Sony's have.
"""
import os
import pathlib
import random
import struct
import subprocess
import sys

SENSOR_BYTES = 25_000_000
SMALL_SIZE = "1616x1080!"


def directory(place, entries, following):
    """A directory of numbers and texts, and the bytes of its texts. It lies at `place`."""
    behind, table = b"", struct.pack("<H", len(entries))
    for tag, value in sorted(entries.items()):
        if isinstance(value, bytes):
            table += struct.pack("<HHII", tag, 2, len(value), place + 6 + 12 * len(entries) + len(behind))
            behind += value + bytes(len(value) % 2)
        else:
            table += struct.pack("<HHII", tag, 4, 1, value)
    return table + struct.pack("<I", following) + behind


def sensor(place, width=6000, height=4000, compression=6):
    return {0xFE: 0, 0x100: width, 0x101: height, 0x103: compression, 0x106: 32803, 0x111: place, 0x117: SENSOR_BYTES}


def camera(maker, model):
    return {0x10F: maker + b"\0", 0x110: model + b"\0", 0x112: 1}


def cr2(whole, noise):
    """Canon's form: the first directory has the whole JPEG, and a later one the sensor's data."""
    start = 1024
    first = camera(b"Canon", b"Canon EOS 1") | {
        0x100: 6000, 0x101: 4000, 0x103: 6, 0x111: start, 0x117: len(whole)}
    second = sensor(start + len(whole))
    head = b"II*\0" + struct.pack("<I", 16) + b"CR\2\0" + struct.pack("<I", 512)
    head += directory(16, first, 512)
    return (head.ljust(512, b"\0") + directory(512, second, 0)).ljust(start, b"\0") + whole + noise


def arw(whole, small, noise):
    """Sony's form: the first directory has a preview, one below it the sensor's data, and a later one the whole JPEG."""
    start = 1024
    first = camera(b"SONY", b"ILCE-1") | {0xFE: 1, 0x103: 6, 0x201: start, 0x202: len(small), 0x14A: 256}
    below = sensor(start + len(small) + len(whole), compression=32767)
    second = {0x103: 6, 0x201: start + len(small), 0x202: len(whole)}
    head = b"II*\0" + struct.pack("<I", 8) + directory(8, first, 512)
    head = head.ljust(256, b"\0") + directory(256, below, 0)
    return (head.ljust(512, b"\0") + directory(512, second, 0)).ljust(start, b"\0") + small + whole + noise


if __name__ == "__main__":
    target, jpeg = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    bytes_ = jpeg.read_bytes()
    reduced = subprocess.run(
        ["convert", jpeg, "-resize", SMALL_SIZE, "-quality", "90", "jpeg:-"], check=True, capture_output=True).stdout
    data = random.Random(1).randbytes(SENSOR_BYTES)
    # Make them under a temporary name, so that they are complete or absent.
    draft = target.with_name(target.name + f".{os.getpid()}")
    draft.mkdir(parents=True)
    (draft / "whole.cr2").write_bytes(cr2(bytes_, data))
    (draft / "small.arw").write_bytes(arw(bytes_, reduced, data))
    draft.rename(target)
