"""Runs a command at the near end of a link, for experiments.

    python3 Tools/Benchmarks/on_link.py b|c|d|e|f|collapse COMMAND…

The far end serves what the benchmarks fetch, at http://10.44.0.2:8080 and https://10.44.0.2:8443. Without a COMMAND it
is a shell. At the end it says what went over the link.
"""
import json
import os
import pathlib
import subprocess
import sys

from link import NEAR, obstacle
from network import Network
from shapes import COLLAPSE, SHAPES
from workshop import Workshop

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    shapes = SHAPES | {COLLAPSE.name: COLLAPSE}
    if len(sys.argv) < 2 or sys.argv[1] not in shapes:
        sys.exit(__doc__.strip())
    if why := obstacle():
        sys.exit(why)
    folder = ROOT / ".build/on-link"
    folder.mkdir(parents=True, exist_ok=True)
    with Workshop(ROOT / ".build/release/vitrine", folder, 1_000) as workshop:
        with Network(workshop, shapes[sys.argv[1]]) as network:
            command = sys.argv[2:] or [os.environ.get("SHELL", "/bin/sh")]
            variables = os.environ | {"CURL_CA_BUNDLE": str(network.server.certificate)}
            network.link.restart()
            code = subprocess.run(network.link.at(NEAR, command), env=variables).returncode
            print(json.dumps(network.link.counts(), indent=1), file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
