"""Measures Vitrine and compares it with similar programs.

    python3 Tools/Benchmarks [--photos N] [--only LINE]… [--link NAME]… [--rounds N] [--json FILE] [--binary FILE]

Prints a table, and writes the same as JSON. Ends with 1 if a limit is exceeded or something could not be measured.
"""
import argparse
import fcntl
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import time

from figure import Figure, table
from lines import (
    at_rest, changes, collapse, deaths, first_frame, first_sync, folder, instructions, json_lists, keys, memory, open_photo,
    photo_first, picture_bytes, picture_memory, publish, quality, quit, search, server_folders, sheet, show, sync_again,
    thumbnails, unchanged, upload, video,
)
from process import Trouble
from shapes import SHAPES
from workshop import Workshop

ROOT = pathlib.Path(__file__).resolve().parents[2]
#: The lines, in the order of measurement.
LINES = {
    "first-sync": first_sync, "memory": memory, "sync-again": sync_again, "unchanged": unchanged,
    "first-frame": first_frame, "keys": keys, "search": search, "changes": changes, "folder": folder,
    "server-folders": server_folders, "json": json_lists, "at-rest": at_rest, "quit": quit, "show": show,
    "picture-memory": picture_memory, "picture-bytes": picture_bytes, "open-photo": open_photo, "sheet": sheet,
    "quality": quality, "publish": publish, "upload": upload, "thumbnails": thumbnails, "photo-first": photo_first,
    "collapse": collapse, "video": video, "deaths": deaths, "instructions": instructions,
}
#: Above this load, times are unreliable.
BUSY = 0.5


def figures(name, workshop):
    """The figures of a line, or one with the reason why there are none."""
    try:
        yield from LINES[name].measure(workshop)
    except (Trouble, OSError, subprocess.SubprocessError) as trouble:
        yield Figure(name, name, missing=str(trouble), failed=True)


def machine(binary):
    """The machine, and the versions of the programs."""
    def first_line(*command):
        if not shutil.which(command[0]):
            return ""
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
        return (done.stdout + done.stderr).strip().partition("\n")[0]

    processor = [line for line in pathlib.Path("/proc/cpuinfo").read_text().split("\n") if "model name" in line]
    memory_size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processor": processor[0].partition(":")[2].strip() if processor else platform.machine(),
        "cores": os.cpu_count(), "memory_gib": round(memory_size / 2**30, 1), "load_before": os.getloadavg()[0],
        "vitrine": first_line(str(binary), "--version"), "xmllint": first_line("xmllint", "--version"),
        "sqlite3": first_line("sqlite3", "--version").partition(" ")[0],
        "network": [first_line(*command) for command in (
            ("nginx", "-v"), ("aria2c", "--version"), ("curl", "--version"), ("wget2", "--version"))],
    }


def arguments():
    parser = argparse.ArgumentParser(prog="Benchmarks", description="Measures Vitrine.")
    parser.add_argument("--photos", type=int, default=1_000_000, help="size of the large gallery")
    parser.add_argument("--only", action="append", choices=LINES, help="run only this line")
    parser.add_argument("--link", action="append", choices=SHAPES, help="use only this link")
    parser.add_argument("--rounds", type=int, default=3, help="rounds on each link")
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / ".build/bench/result.json")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / ".build/release/vitrine")
    chosen = parser.parse_args()
    if chosen.photos < 1_000:
        parser.error("--photos must be at least 1000.")
    if chosen.rounds < 1:
        parser.error("--rounds must be at least 1.")
    if not os.access(chosen.binary, os.X_OK):
        parser.error(f"{chosen.binary} is missing; run make build.")
    for name in ("vitrine-decoder", "vitrine-fetcher"):
        # Without its decoder, the program shows no pictures, and without its fetcher, it fetches nothing.
        if not os.access(chosen.binary.with_name(name), os.X_OK):
            parser.error(f"The program {chosen.binary.with_name(name)} is missing; run make build.")
    return chosen


def main():
    chosen = arguments()
    # End child processes before this one ends.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    folder = ROOT / ".build/bench"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit("Another benchmark is running.")
        where = machine(chosen.binary)
        if where["load_before"] > BUSY:
            print(f"This machine is busy (load {where['load_before']:.2f}): times are unreliable.", file=sys.stderr)
        found = []
        with Workshop(chosen.binary, folder, chosen.photos, chosen.link or tuple(SHAPES), chosen.rounds) as workshop:
            for name in chosen.only or LINES:
                workshop.say(f"{name}: {LINES[name].__doc__.strip()}")
                for figure in figures(name, workshop):
                    workshop.say(f"  {figure.brief}")
                    found.append(figure)
    where["load_after"] = os.getloadavg()[0]
    print("\n".join(table(found)))
    result = {"machine": where, "photos": chosen.photos, "figures": [figure.as_json() for figure in found]}
    chosen.json.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"\n{where['processor']}, {where['cores']} cores; {where['date']}; {chosen.json}")
    return 1 if any(figure.is_over or figure.failed for figure in found) else 0


if __name__ == "__main__":
    sys.exit(main())
