"""Sending a published gallery to a bucket over a link, against rclone; and an interrupted run that continues."""
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import subprocess
import time

from companion import Companion
from figure import Figure
from link import FAR, NEAR, Link, obstacle
from network import LIMIT
from process import Trouble, run
from shapes import SHAPES

LINE = "upload"
PHOTOS, SIZES = 1_000, (100_000, 300_000)
#: Of rclone's time with the best number of transfers.
RATIO = 1.05
TRANSFERS = (4, 8, 16, 32)
OVER = "b"
#: The share of the files after which the run is killed.
KILLED_AFTER = 0.4
PROGRAMS = pathlib.Path(__file__).resolve().parents[3] / ".build/test-servers/bin"
PORT, PATIENCE = 8333, 60
KEY, SECRET = "AKIDVITRINE", "secret"
USERS = f"""{{"identities": [{{"name": "me", "credentials": [{{"accessKey": "{KEY}", "secretKey": "{SECRET}"}}],
"actions": ["Admin", "Read", "Write", "List"]}}]}}"""


class Store(Companion):
    """SeaweedFS at the far end of a link, with the empty bucket `photos`."""

    def __init__(self, link, folder):
        super().__init__()
        self._link, self._folder = link, folder
        self.address = f"http://{FAR}:{PORT}"

    def _command(self):
        shutil.rmtree(self._folder, ignore_errors=True)
        (self._folder / "data").mkdir(parents=True)
        (self._folder / "users.json").write_text(USERS, encoding="utf-8")
        return self._link.at(FAR, [
            str(PROGRAMS / "weed"), "server", "-dir", str(self._folder / "data"), "-ip", FAR, "-ip.bind", FAR,
            "-volume.max", "40", "-master.volumeSizeLimitMB", "64", "-filer", "-s3", "-s3.port", str(PORT),
            "-s3.port.iceberg", "0", "-s3.port.lance", "0", "-s3.iam=false", "-s3.config",
            str(self._folder / "users.json")])

    def _make_ready(self):
        deadline = time.perf_counter() + PATIENCE
        while time.perf_counter() < deadline:
            if self._child.poll() is not None:
                break
            if self.rclone("mkdir", "bucket:photos").returncode == 0:
                return
            time.sleep(0.5)
        raise Trouble("SeaweedFS does not start.")

    @property
    def environment(self):
        """The variables with which Vitrine and rclone find the bucket."""
        return {
            "AWS_ENDPOINT_URL": self.address, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET,
            "RCLONE_CONFIG_BUCKET_TYPE": "s3", "RCLONE_CONFIG_BUCKET_PROVIDER": "SeaweedFS",
            "RCLONE_CONFIG_BUCKET_ENV_AUTH": "true", "RCLONE_CONFIG_BUCKET_ENDPOINT": self.address,
            "RCLONE_CONFIG_BUCKET_FORCE_PATH_STYLE": "true"}

    def rclone(self, *arguments, side=FAR):
        """Runs rclone at one end."""
        return subprocess.run(
            self._link.at(side, [str(PROGRAMS / "rclone"), "--config", "", *map(str, arguments)]),
            env=os.environ | self.environment, capture_output=True, text=True, check=False, timeout=LIMIT)

    def check(self, folder, prefix):
        """Checks that the bucket has all bytes of a folder."""
        done = self.rclone("check", folder, f"bucket:photos/{prefix}", "--exclude", ".*")
        if done.returncode:
            raise Trouble(f"The bucket differs: {done.stderr.strip()[-300:]}")


def make(workshop):
    """A published folder of photos. Random bytes after a small picture make the size."""
    folder = workshop.folder / f"upload-{PHOTOS}"
    if not folder.exists():
        workshop.say("  making photos to send")
        chance, draft = random.Random(7), folder.with_suffix(".draft")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        pictures = sorted((pathlib.Path(__file__).resolve().parents[3] / "TestGallery/thumbnails").glob("*.jpg"))
        pictures = [picture.read_bytes() for picture in pictures]
        for number in range(PHOTOS):
            picture = pictures[number % len(pictures)]
            size = chance.randint(*SIZES)
            (draft / f"IMG_{number:04}.jpg").write_bytes(picture + chance.randbytes(size - len(picture)))
        draft.rename(folder)
    run([workshop.binary, "publish", folder], workshop.environment(workshop.folder_for("home")))
    return folder


def ours(workshop, link, store, folder, prefix):
    """The seconds of Vitrine, whose publishing finds nothing new."""
    link.restart()
    command = link.at(NEAR, [str(workshop.binary), "publish", str(folder), f"s3://photos/{prefix}"])
    seconds = run(command, workshop.environment(workshop.folder_for("home")) | store.environment, LIMIT)
    store.check(folder, prefix)
    return seconds


def theirs(link, store, folder, prefix, transfers):
    """The seconds of rclone, or the limit if it takes longer."""
    link.restart()
    begin = time.perf_counter()
    try:
        done = store.rclone(
            "copy", folder, f"bucket:photos/{prefix}", "--transfers", transfers, "--exclude", ".*",
            "--s3-no-check-bucket", side=NEAR)
    except subprocess.TimeoutExpired:
        return LIMIT
    seconds = time.perf_counter() - begin
    if done.returncode:
        raise Trouble(f"rclone: {done.stderr.strip()[-300:]}")
    return seconds


def continued(workshop, link, store, folder, total):
    """The files that a run sends after a killed one, and those that the killed run left in the bucket."""
    environment = workshop.environment(workshop.folder_for("home")) | store.environment
    command = link.at(NEAR, [str(workshop.binary), "publish", str(folder), "s3://photos/killed"])
    link.restart()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as first:
        for _ in range(int(total * KILLED_AFTER)):
            if not first.stdout.readline():
                raise Trouble("The run ended before it was killed.")
        first.send_signal(signal.SIGKILL)
    # The server may still store what it has received.
    time.sleep(1)
    there = len(store.rclone("lsf", "-R", "--files-only", "bucket:photos/killed").stdout.splitlines())
    begin = time.perf_counter()
    second = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=LIMIT)
    seconds = time.perf_counter() - begin
    store.check(folder, "killed")
    sent = len(re.findall("^sent\t", second.stdout, re.M))
    return sent, there, seconds


def measure(workshop):
    if why := obstacle():
        yield Figure(LINE, "over a link", missing=why, failed=True)
        return
    if not os.access(PROGRAMS / "weed", os.X_OK):
        raise Trouble("SeaweedFS is missing; Tools/Scripts/install-packages test installs it.")
    folder, shape = make(workshop), SHAPES[OVER]
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    sizes = [path.stat().st_size for path in files]
    with Link(shape, workshop.folder_for("upload-link")) as link:
        def in_store(action):
            place = workshop.folder_for("upload-store")
            try:
                with Store(link, place) as store:
                    return action(store)
            finally:
                workshop.discard(place)

        trials = {
            transfers: in_store(lambda store, n=transfers: theirs(link, store, folder, "theirs", n))
            for transfers in TRANSFERS}
        best = min(trials, key=trials.get)
        workshop.say("    rclone: " + ", ".join(f"{n}: {seconds:.1f} s" for n, seconds in trials.items()))
        mine, others = [], []
        for _ in range(workshop.rounds):
            def pair(store):
                mine.append(ours(workshop, link, store, folder, "ours"))
                others.append(theirs(link, store, folder, "theirs", best))
            in_store(pair)
            workshop.say(f"    vitrine: {mine[-1]:.2f} s, rclone: {others[-1]:.2f} s")
        sent, there, seconds = in_store(lambda store: continued(workshop, link, store, folder, len(files)))
    yield Figure(
        LINE, f"{PHOTOS:,} photos and their thumbnails to a bucket over {shape.text}", ours=statistics.median(mine),
        unit="s", theirs=statistics.median(others),
        ratio=statistics.median(o / t for o, t in zip(mine, others)), limit=RATIO, limited="ratio",
        note=f"theirs: rclone copy --transfers {best}; the line needs {shape.least(sizes):.1f} s",
        details={"ours": mine, "theirs": others, "trials": trials})
    yield Figure(
        LINE, "… again after a killed run: files sent beside those that were missing", ours=sent + there - len(files),
        limit=0, note=f"{there} of {len(files)} were there; the rest took {seconds:.1f} s")
