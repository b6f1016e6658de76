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
    # The program ends with 1 if a figure is over its limit, and prints all figures.
    if not found or (told.returncode != 0 and all(verdict == "ok" for verdict, _ in found)):
        reason = told.stderr.strip()[-300:] or f"picture-quality ended with {told.returncode}."
        yield Figure("quality", "pictures in characters", missing=reason, failed=True)
    for verdict, what in found:
        # The program compares the figure with its limit; this line shows only the verdict.
        yield Figure("quality", what, ours=int(verdict != "ok"), limit=0, note="0 where it is so", details={"table": told.stdout})
