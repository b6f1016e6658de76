"""The resources of all measurements: the program, galleries, filled caches."""
import base64
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
from server import GalleryServer
from terminal import Terminal


#: The number of different blurred pictures in a gallery.
BLURRED_PICTURES = 64


@dataclasses.dataclass
class Gallery:
    """A gallery on the disk."""

    file: pathlib.Path
    rows: pathlib.Path
    photos: int
    #: The names of the first photos in date order.
    first_names: list
    #: Offsets of the first letters of a hundred names, beginning with one of `first_names`.
    letters: list


class Workshop:
    """Provides and removes the resources of measurements.

    Galleries are made once and kept; caches live for one run of the benchmarks.
    """

    def __init__(self, binary, folder, photos, links=(), rounds=3):
        self.binary = binary.resolve()
        self.folder = folder.resolve()
        #: Sizes of the large gallery, one of a tenth, and a small one.
        self.many, self.some, self.few = photos, max(100, photos // 10), 100
        #: The names of the links, and the number of rounds.
        self.links, self.rounds = links, rounds
        #: The same random choices in each run.
        self.chance = random.Random(1)
        self._scratch = self.folder / "run"
        self._homes = 0
        self._filled = {}

    def __enter__(self):
        # Remove leftovers of a killed run.
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir(parents=True)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self._scratch, ignore_errors=True)

    def say(self, text):
        """Prints progress."""
        print(text, file=sys.stderr, flush=True)

    def gallery(self, photos, order=None):
        """A gallery of a number of photos. With the order `mixed`, their ids have no order."""
        options = [order] if order else []
        folder = self.folder / "-".join(["gallery", str(photos), *options])
        if not (folder / "facts.json").exists():
            self.say(f"  making a gallery of {photos:,} photos")
            run([sys.executable, pathlib.Path(__file__).with_name("gallery.py"), folder, photos, *options])
        facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
        first = facts["earliest"]
        plain = next(photo for photo in first if photo["name"][0].isascii())
        return Gallery(
            folder / "gallery.xml", folder / "rows.csv", photos, [photo["name"] for photo in first],
            [plain["offset"]] + [offset for offset in facts["offsets"] if offset != plain["offset"]][:99])

    def pictures(self):
        """The folder with the files to fetch over links."""
        folder = self.folder / "pictures-3"
        if not folder.exists():
            self.say("  making thumbnails and photos")
            thumbnail = pathlib.Path(__file__).parents[2] / "TestGallery/thumbnails/wide.jpg"
            run([sys.executable, pathlib.Path(__file__).with_name("pictures.py"), folder, thumbnail])
        return folder

    def photos(self):
        """The folder with the photos to draw."""
        folder = self.folder / "photos-2"
        if not folder.exists():
            self.say("  making photos of 24 and 12 megapixels, and small ones")
            images = pathlib.Path(__file__).parents[2] / "TestGallery/images"
            run([sys.executable, pathlib.Path(__file__).with_name("photos.py"), folder, images])
        return folder

    def progressive_photo(self):
        """The progressive photo of 24 megapixels."""
        file = self.folder / "photos-2-progressive.jpg"
        if not file.exists():
            draft = file.with_suffix(".draft")
            run(["jpegtran", "-progressive", "-outfile", draft, self.photos() / "24.jpg"])
            draft.rename(file)
        return file

    def raw_photos(self):
        """The folder with raw files of 24 megapixels."""
        folder = self.folder / "raw-photos-1"
        if not folder.exists():
            self.say("  making raw files")
            run([sys.executable, pathlib.Path(__file__).with_name("raw_photos.py"), folder, self.photos() / "24.jpg"])
        return folder

    def camera_photos(self, count):
        """A folder of photos of 12 MP to publish."""
        folder = self.folder / f"camera-photos-{count}"
        if not folder.exists():
            self.say("  making photos")
            run([
                sys.executable, pathlib.Path(__file__).with_name("camera_photos.py"), folder,
                pathlib.Path(__file__).parents[2] / "TestGallery", count])
        return folder

    def knows(self, option):
        """Whether the program has an option."""
        told = subprocess.run([self.binary, "--help"], capture_output=True, text=True, timeout=10).stdout
        return re.search(rf"--{option}\b", told) is not None

    def copy(self, gallery):
        """A private copy of a gallery, to change."""
        file = self.folder_for("copy") / "gallery.xml"
        shutil.copyfile(gallery.file, file)
        return dataclasses.replace(gallery, file=file)

    def folder_for(self, purpose):
        """A new empty folder."""
        self._homes += 1
        folder = self._scratch / f"{purpose}-{self._homes}"
        folder.mkdir()
        return folder

    def discard(self, folder):
        """Removes a folder early, to save disk space."""
        shutil.rmtree(folder)
        self._filled = {file: home for file, home in self._filled.items() if home != folder}

    def environment(self, home):
        """The environment of the program, without the user's variables."""
        return {
            "HOME": str(home), "PATH": os.environ["PATH"], "TERM": "xterm-256color", "COLORTERM": "truecolor",
            "LANG": "C.UTF-8", "TZ": "UTC",
        }

    def sync_command(self, gallery):
        """`vitrine sync --list-only`: of a gallery, or of an address."""
        # The usual limit of all caches suffices for only six million photos.
        return [self.binary, "sync", "--list-only", "--cache-limit=64G", place(gallery)]

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

    def home_with_blurred_pictures(self, gallery):
        """A new home with a cache that holds the gallery, and a blurred picture of each photo, as Immich sends them.

        Returns the home and the gallery's address. It is the address of a server that is gone, because Vitrine would
        look for thumbnails on this machine even while it is offline.
        """
        home = self.folder_for("home-with-blurred-pictures")
        with GalleryServer(gallery.file) as server:
            self.sync(server.address, home)
        # The first five bytes tell the proportions and the colours; the others are the amplitudes of waves.
        head = bytes.fromhex("dce7112580")
        hashes = [base64.b64encode(head + self.chance.randbytes(16)).decode() for _ in range(BLURRED_PICTURES)]
        cases = " ".join(f"WHEN {index} THEN '{text}'" for index, text in enumerate(hashes))
        connection = sqlite3.connect(self.database(home))
        try:
            with connection:
                connection.execute(f"UPDATE photo SET thumbhash = CASE id % {len(hashes)} {cases} END")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()
        return home, server.address

    def database(self, home):
        """The database of the only gallery in a home."""
        found = list((home / ".cache/vitrine/galleries").glob("*/gallery.sqlite"))
        if len(found) != 1:
            raise Trouble(f"There are {len(found)} caches in {home}, and not one.")
        return found[0]

    def check(self, gallery, home):
        """Checks that the cache holds all photos of the gallery."""
        connection = sqlite3.connect(self.database(home))
        try:
            (count,) = connection.execute("SELECT count(*) FROM photo").fetchone()
        finally:
            connection.close()
        if count != gallery.photos:
            raise Trouble(f"The cache holds {count} photos of {gallery.photos}.")

    def browse(self, gallery, home=None):
        """Opens a gallery or an address in a terminal, offline, so that only the program is measured."""
        home = home or self.home(gallery)
        return Terminal([self.binary, "--offline", place(gallery)], self.environment(home))


def place(gallery):
    """The file of a gallery, or an address as it is."""
    return gallery.file if isinstance(gallery, Gallery) else gallery
