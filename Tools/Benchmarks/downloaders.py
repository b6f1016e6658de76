"""Other programs that fetch many files, at all useful settings."""
import dataclasses
import os
import shutil


@dataclasses.dataclass(frozen=True)
class Downloader:
    """A program with one setting."""

    program: str
    #: Simultaneous transfers.
    width: int
    scheme: str = "http"
    #: Further options, and their label.
    options: tuple = ()
    also: str = ""

    @property
    def is_here(self):
        return shutil.which("aria2c" if self.program == "aria2" else self.program) is not None

    @property
    def name(self):
        return " ".join(filter(None, (
            self.program, "h2" if self.scheme == "https" else "", str(self.width), self.also)))

    def command(self, network, paths, target):
        """The command that fetches files into a folder."""
        file = target.with_name(target.name + ".list")
        addresses = [network.server.address(self.scheme, path) for path in paths]
        certificate = network.server.certificate
        if self.program == "curl":
            file.write_text("".join(
                f'url="{address}"\noutput="{target / os.path.basename(path)}"\n'
                for address, path in zip(addresses, paths)), encoding="utf-8")
            version = "--http2" if self.scheme == "https" else "--http1.1"
            return [
                "curl", "-q", "-sS", "--fail", "-Z", "--parallel-max", self.width, version, "--cacert", certificate,
                "-K", file]
        file.write_text("".join(address + "\n" for address in addresses), encoding="utf-8")
        if self.program == "aria2":
            return [
                "aria2c", "--no-conf", "-q", "-i", file, f"-j{self.width}", "-x1", "-s1", "-d", target,
                "--file-allocation=none", "--timeout=100", *self.options]
        version = "--http2" if self.scheme == "https" else "--no-http2"
        return [
            "wget2", "-q", "--no-config", "--no-hsts", f"--max-threads={self.width}", version,
            f"--ca-certificate={certificate}", "-i", file, "-P", target]

    def fetch(self, network, paths, sizes):
        """Fetches all files. Returns the seconds; raises `TooLong` after the time limit."""
        home = network.workshop.folder_for("peer")
        target = home / "files"
        target.mkdir()
        try:
            seconds = network.run(self.command(network, paths, target), home)
            return seconds, lacking(target, paths, sizes)
        finally:
            shutil.rmtree(home)


def lacking(folder, paths, sizes):
    """The number of missing or incomplete files."""
    def is_whole(path, size):
        file = folder / os.path.basename(path)
        return file.exists() and file.stat().st_size == size

    return sum(not is_whole(path, size) for path, size in zip(paths, sizes))


#: Each program at its promising settings.
DOWNLOADERS = (
    *(Downloader("aria2", width) for width in (1, 4, 16, 64)),
    Downloader("aria2", 64, options=("--optimize-concurrent-downloads=true",), also="optimize"),
    *(Downloader("curl", width) for width in (4, 16, 64)),
    *(Downloader("curl", width, "https") for width in (4, 16, 64)),
    *(Downloader("wget2", width) for width in (16, 64)),
    *(Downloader("wget2", width, "https") for width in (16, 64)),
)
