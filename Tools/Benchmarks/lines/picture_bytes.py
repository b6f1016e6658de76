"""Bytes of photos in sixels and for kitty, against chafa and timg."""
import base64
import pathlib
import re
import struct
import subprocess

from figure import Figure
from process import Trouble

#: The bytes of a pixel, against those of the other programs.
LIMIT = 0.5
#: 800 by 600 pixels: for output to a file, Vitrine's cells have 10 by 20 pixels, and chafa's have 8 by 8.
CELLS, CHAFA_CELLS = "80x30", "100x75"
SIXEL_SIZE = re.compile(rb'"\d+;\d+;(\d+);(\d+)')
KITTY_PART = re.compile(rb"\x1b_G[^;\x1b]*;([^\x1b]*)\x1b\\")


def photos():
    """The photos of the TestGallery, without damaged, very small and very narrow ones."""
    folder = pathlib.Path(__file__).parents[3] / "TestGallery/images"
    odd = {"damaged", "not-a-picture", "truncated", "tiny", "tall"}
    return sorted(file for file in folder.glob("*.jpg") if file.stem not in odd)


def sixel_pixels(output):
    size = SIXEL_SIZE.search(output)
    if size is None:
        raise Trouble("There is no picture in sixels.")
    return int(size[1]) * int(size[2])


def kitty_pixels(output):
    data = b"".join(KITTY_PART.findall(output))
    file = base64.b64decode(data + b"=" * (-len(data) % 4))
    if not file.startswith(b"\x89PNG"):
        raise Trouble("There is no PNG file for kitty.")
    width, height = struct.unpack(">II", file[16:24])
    return width * height


def density(workshop, command, pixels):
    """The bytes of a pixel in all photos together, as over SSH."""
    environment = workshop.environment(workshop.folder_for("home"))
    environment["SSH_CONNECTION"] = "192.0.2.1 50000 192.0.2.2 22"
    outputs = [
        subprocess.run([*command, file], env=environment, stdout=subprocess.PIPE, check=True).stdout
        for file in photos()]
    return sum(map(len, outputs)) / sum(map(pixels, outputs))


def measure(workshop):
    show = [workshop.binary, "show", "--size", CELLS, "--pixels"]
    chafa = ["chafa", "-f", "sixels", "--scale", "max", "--font-ratio", "1", "--size", CHAFA_CELLS]
    timg = ["timg", "-pk", "-g", CELLS]
    for what, ours, theirs, their_name, pixels in (
            ("in sixels", [*show, "sixel"], chafa, "chafa", sixel_pixels),
            ("for kitty", [*show, "kitty"], timg, "timg", kitty_pixels)):
        mine, other = density(workshop, ours, pixels), density(workshop, theirs, pixels)
        yield Figure(
            "picture-bytes", f"bytes of a pixel {what}, against {their_name}", ours=mine, theirs=other, unit="B",
            ratio=mine / other, limit=LIMIT, limited="ratio", note=f"{len(photos())} photos of the TestGallery")
