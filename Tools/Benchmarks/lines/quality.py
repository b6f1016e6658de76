"""Similarity of character drawings to the photos, compared with chafa, by `picture-quality`."""
import pathlib
import re
import subprocess

from figure import Figure

#: A separate build folder, because other settings would cause a new build of the measured program.
BUILD = ".build-quality"
VERDICT = re.compile(r"^(ok|OVER) +(.+)$", re.M)


def measure(workshop):
    root = pathlib.Path(__file__).parents[3]
    workshop.say("  building what compares pictures")
    told = subprocess.run(
        ["swift", "run", "-c", "release", "--scratch-path", BUILD, "picture-quality"], cwd=root, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    found = VERDICT.findall(told.stdout)
    if not found:
        yield Figure("quality", "pictures in characters", missing=told.stderr.strip()[-300:], failed=True)
    for verdict, what in found:
        # The program compares the figure with its limit; this line shows only the verdict.
        yield Figure("quality", what, ours=int(verdict != "ok"), limit=0, note="0 where it is so", details={"table": told.stdout})
