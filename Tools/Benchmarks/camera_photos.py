"""Makes photos of 12 MP: scenes of the TestGallery, enlarged, with the noise of a sensor, and about as many bytes as cameras
need for them.

    python3 camera_photos.py FOLDER TESTGALLERY COUNT

It makes a few photos; the rest are hard links to those. A reader has the work of COUNT photos, but they take less disk space.
"""
import os
import pathlib
import subprocess
import sys

SCENES = ("dawn-ridge", "october-oak", "tulips", "milky-way", "owl", "three-pears", "city-at-ten", "low-tide")
SIZE = "4000x3000"


def make(scene, file, number):
    """Makes one photo."""
    subprocess.run(
        ["convert", scene, "-resize", f"{SIZE}^", "-gravity", "center", "-extent", SIZE, "-seed", str(number),
         "-attenuate", "0.3", "+noise", "Gaussian", "-sampling-factor", "4:2:0", "-quality", "90", file], check=True)


def write(folder, gallery, count):
    """Makes the photos and the links."""
    for number, scene in enumerate(SCENES):
        make(gallery / "images" / f"{scene}.jpg", folder / f"{number:04d}.jpg", number)
    for number in range(len(SCENES), count):
        os.link(folder / f"{number % len(SCENES):04d}.jpg", folder / f"{number:04d}.jpg")


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1])
    draft = target.with_name(target.name + f".{os.getpid()}")
    draft.mkdir(parents=True)
    write(draft, pathlib.Path(sys.argv[2]), int(sys.argv[3]))
    draft.rename(target)
