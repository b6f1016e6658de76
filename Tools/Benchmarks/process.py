"""Runs programs and measures their time and peak memory."""
import os
import pathlib
import re
import resource
import signal
import subprocess
import tempfile
import threading
import time


class Trouble(Exception):
    """The reason for a missing figure."""


class TooLong(Trouble):
    """The program exceeded its time limit."""


def peak_of(arguments, environment, timeout=600):
    """The peak resident memory of a program, in MiB.

    GNU time starts it, because Linux also counts a child's memory before exec, which is a copy of its parent's. `time` is
    small, but this interpreter may be larger than the measured program.
    """
    with tempfile.NamedTemporaryFile("r") as told:
        run(["time", "-f", "%M", "-o", told.name, *arguments], environment, timeout)
        return int(told.read()) / 1024


def fetching(arguments, environment, timeout=600):
    """Runs a program that fetches. Returns the peak resident memory of the program and its fetcher, added, in MiB, and the
    megabytes that both send to the disk.

    The kernel adds the fetcher's values to no other process, since the program does not wait for its end. So they are read while
    it runs. They only rise.
    """
    memory, written = {}, {}
    with tempfile.TemporaryFile() as complaints, subprocess.Popen(
            list(map(str, arguments)), env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=complaints, start_new_session=True) as program:
        late = threading.Timer(timeout, end, [program.pid])
        late.start()
        try:
            while program.poll() is None:
                for process in [program.pid] + fetchers(program.pid):
                    try:
                        status = pathlib.Path(f"/proc/{process}/status").read_text(encoding="ascii")
                        use = pathlib.Path(f"/proc/{process}/io").read_text(encoding="ascii")
                    except OSError:
                        continue
                    # A process that has just ended has no memory any more.
                    if found := re.search(r"VmHWM:\s+(\d+)", status):
                        memory[process] = int(found[1])
                    written[process] = int(re.search(r"^write_bytes: (\d+)", use, re.MULTILINE)[1])
                time.sleep(0.002)
        finally:
            late.cancel()
            end(program.pid)
        if program.returncode != 0 or len(memory) < 2:
            complaints.seek(0)
            said = complaints.read().decode(errors="replace").strip()
            raise Trouble(f"{os.path.basename(str(arguments[0]))} ended with {program.returncode}: {said[-300:]}")
    return sum(memory.values()) / 1024, sum(written.values()) / 1e6


def fetchers(process):
    """The fetchers that the launcher of a process has started."""

    def children(number):
        try:
            return pathlib.Path(f"/proc/{number}/task/{number}/children").read_text(encoding="ascii").split()
        except OSError:
            return []

    def is_fetcher(number):
        try:
            return pathlib.Path(f"/proc/{number}/comm").read_text(encoding="ascii") == "vitrine-fetcher\n"
        except OSError:
            return False

    return [int(number) for child in children(process) for number in children(child) if is_fetcher(number)]


def peaks_of(arguments, environment, timeout=600):
    """The peak resident memory of a program and of its children, in MiB."""
    with tempfile.NamedTemporaryFile("r") as told:
        own = 0
        with subprocess.Popen(
                ["time", "-f", "%M", "-o", told.name, *map(str, arguments)], env=environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, start_new_session=True) as timer:
            late = threading.Timer(timeout, end, [timer.pid])
            late.start()
            try:
                while timer.poll() is None:
                    # The high-water mark only rises, so the last value is the highest.
                    own = max(own, high_water_of_child(timer.pid))
                    time.sleep(0.0005)
            finally:
                late.cancel()
        if timer.returncode != 0 or not own:
            raise Trouble(f"{os.path.basename(str(arguments[0]))} ended with {timer.returncode}.")
        return own / 1024, int(told.read()) / 1024


def high_water_of_child(parent):
    """The peak resident memory of a process' only child, in KiB; 0 without one."""
    try:
        with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as file:
            child = file.read().split()[0]
        with open(f"/proc/{child}/comm", encoding="ascii") as file:
            if file.read().strip() == "time":
                return 0
        with open(f"/proc/{child}/status", encoding="ascii") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("VmHWM")), 0)
    except (OSError, IndexError):
        return 0


def work_of(arguments, environment, timeout=600):
    """The processor seconds of a program and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(arguments, environment, timeout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(arguments, environment=None, timeout=600):
    """Runs a program to its end or the time limit. Returns the seconds."""
    with tempfile.TemporaryFile() as complaints:
        begun = time.perf_counter()
        child = subprocess.Popen(
            [str(argument) for argument in arguments], env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=complaints, start_new_session=True)
        late = threading.Event()

        def stop():
            late.set()
            end(child.pid)

        timer = threading.Timer(timeout, stop)
        timer.start()
        try:
            child.wait()
            seconds = time.perf_counter() - begun
        finally:
            timer.cancel()
            end(child.pid)
        if child.returncode != 0:
            complaints.seek(0)
            said = complaints.read().decode(errors="replace").strip()
            kind, how = (TooLong, f"took more than {timeout} s") if late.is_set() else (
                Trouble, f"ended with {child.returncode}")
            raise kind(f"{os.path.basename(str(arguments[0]))} {how}: {said[-300:]}")
    return seconds


def end(group):
    """Ends a process group, if it still exists."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass
