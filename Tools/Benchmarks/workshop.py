"""What all measurements work with: our program, galleries, and caches that are filled already."""
import dataclasses
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import sys

from process import Trouble, run
from terminal import Terminal


@dataclasses.dataclass
class Gallery:
    """A gallery on the disk."""

    file: pathlib.Path
    rows: pathlib.Path
    photos: int
    #: The names of the photos that a list by date begins with.
    first_names: list
    #: Where in the file the first letters of a hundred names stand, the first of them that of a photo of `first_names`.
    letters: list


class Workshop:
    """Hands out what is measured with, and clears it away.

    Galleries are made once and kept; caches live for one run of the benchmarks.
    """

    def __init__(self, binary, folder, photos, links=(), rounds=3):
        self.binary = binary.resolve()
        self.folder = folder.resolve()
        #: How many photos a large gallery has, one that is a tenth of it, and a small one.
        self.many, self.some, self.few = photos, max(100, photos // 10), 100
        #: The names of the links to measure on, and how often.
        self.links, self.rounds = links, rounds
        #: The same choices every time.
        self.chance = random.Random(1)
        self._scratch = self.folder / "run"
        self._homes = 0
        self._filled = {}

    def __enter__(self):
        # What a run that was killed has left.
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir(parents=True)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self._scratch, ignore_errors=True)

    def say(self, text):
        """Tells what is going on, to whoever waits."""
        print(text, file=sys.stderr, flush=True)

    def gallery(self, photos):
        """A gallery of so many photos."""
        folder = self.folder / f"gallery-{photos}"
        if not (folder / "facts.json").exists():
            self.say(f"  making a gallery of {photos:,} photos")
            run([sys.executable, pathlib.Path(__file__).with_name("gallery.py"), folder, photos])
        facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
        first = facts["earliest"]
        plain = next(photo for photo in first if photo["name"][0].isascii())
        return Gallery(
            folder / "gallery.xml", folder / "rows.csv", photos, [photo["name"] for photo in first],
            [plain["offset"]] + [offset for offset in facts["offsets"] if offset != plain["offset"]][:99])

    def pictures(self):
        """The folder with what is fetched over links."""
        folder = self.folder / "pictures-3"
        if not folder.exists():
            self.say("  making thumbnails and photos")
            thumbnail = pathlib.Path(__file__).parents[2] / "TestGallery/thumbnails/wide.jpg"
            run([sys.executable, pathlib.Path(__file__).with_name("pictures.py"), folder, thumbnail])
        return folder

    def photos(self):
        """The folder with what is drawn on standard output."""
        folder = self.folder / "photos-1"
        if not folder.exists():
            self.say("  making photos of 24 and 12 megapixels, and small ones")
            images = pathlib.Path(__file__).parents[2] / "TestGallery/images"
            run([sys.executable, pathlib.Path(__file__).with_name("photos.py"), folder, images])
        return folder

    def progressive_photo(self):
        """The photo of 24 megapixels in scans, each of which makes all of it finer."""
        file = self.folder / "photos-1-progressive.jpg"
        if not file.exists():
            draft = file.with_suffix(".draft")
            run(["jpegtran", "-progressive", "-outfile", draft, self.photos() / "24.jpg"])
            draft.rename(file)
        return file

    def camera_photos(self, count):
        """A folder of photos of 12 MP, to be made a gallery."""
        folder = self.folder / f"camera-photos-{count}"
        if not folder.exists():
            self.say("  making photos")
            run([
                sys.executable, pathlib.Path(__file__).with_name("camera_photos.py"), folder,
                pathlib.Path(__file__).parents[2] / "TestGallery", count])
        return folder

    def knows(self, option):
        """Whether this Vitrine has an option."""
        told = subprocess.run([self.binary, "--help"], capture_output=True, text=True, timeout=10).stdout
        return re.search(rf"--{option}\b", told) is not None

    def copy(self, gallery):
        """A gallery of one's own, to change."""
        file = self.folder_for("copy") / "gallery.xml"
        shutil.copyfile(gallery.file, file)
        return dataclasses.replace(gallery, file=file)

    def folder_for(self, purpose):
        """An empty folder that nobody else uses."""
        self._homes += 1
        folder = self._scratch / f"{purpose}-{self._homes}"
        folder.mkdir()
        return folder

    def discard(self, folder):
        """Removes a folder that is not needed any more: the disk need not hold all of them."""
        shutil.rmtree(folder)
        self._filled = {file: home for file, home in self._filled.items() if home != folder}

    def environment(self, home):
        """The variables that a program of ours sees: nothing of the user's."""
        return {
            "HOME": str(home), "PATH": os.environ["PATH"], "TERM": "xterm-256color", "COLORTERM": "truecolor",
            "LANG": "C.UTF-8", "TZ": "UTC",
        }

    def sync_command(self, gallery):
        """`vitrine sync --list-only`: of a gallery, or of an address."""
        return [self.binary, "sync", "--list-only", gallery.file if isinstance(gallery, Gallery) else gallery]

    def sync(self, gallery, home):
        """The seconds that it takes."""
        return run(self.sync_command(gallery), self.environment(home))

    def home(self, gallery):
        """A home with a cache that holds the gallery, the same one each time."""
        if gallery.file not in self._filled:
            home = self.folder_for("home")
            self.say(f"  filling a cache with {gallery.photos:,} photos")
            self.sync(gallery, home)
            self.check(gallery, home)
            self._filled[gallery.file] = home
        return self._filled[gallery.file]

    def database(self, home):
        """The database of the only gallery in a home."""
        found = list((home / ".cache/vitrine/galleries").glob("*/gallery.sqlite"))
        if len(found) != 1:
            raise Trouble(f"There are {len(found)} caches in {home}, and not one.")
        return found[0]

    def check(self, gallery, home):
        """Sees to it that what is measured has been done."""
        connection = sqlite3.connect(self.database(home))
        try:
            (count,) = connection.execute("SELECT count(*) FROM photo").fetchone()
        finally:
            connection.close()
        if count != gallery.photos:
            raise Trouble(f"The cache holds {count} photos of {gallery.photos}.")

    def browse(self, gallery, home=None):
        """Opens a gallery in a terminal. It fetches nothing: what is measured is the program alone."""
        home = home or self.home(gallery)
        return Terminal([self.binary, "--offline", gallery.file], self.environment(home))
