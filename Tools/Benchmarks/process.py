"""Runs programs and measures their time and peak memory."""
import os
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
