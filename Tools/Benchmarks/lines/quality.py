"""Similarity of character drawings to the photos, compared with chafa, by `picture-quality`."""
import pathlib
import re
import subprocess

from figure import Figure

#: Built for itself, and not beside what is measured: it needs other settings, and would have that built anew.
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
        # What is held is asked of the program; here it is a matter of yes and no.
        yield Figure("quality", what, ours=int(verdict != "ok"), limit=0, note="0 where it is so", details={"table": told.stdout})
