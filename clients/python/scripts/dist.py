"""Builds the wheel and the source archive of this folder, the same bytes for the same files: dist.py DIRECTORY

It asks no index: setuptools and wheel are installed. SOURCE_DATE_EPOCH is the time of every file in both.
"""

import gzip
import os
import re
import sys
import tarfile
from pathlib import Path

from setuptools import build_meta

EPOCH = int(os.environ.setdefault("SOURCE_DATE_EPOCH", "315532800"))


def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without what differs between two machines."""
    member.mtime = EPOCH
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    return member


def normalised(archive: str) -> str:
    """The name without .tar.gz that PyPI wants (PEP 625); older versions of setuptools keep the hyphens of the project."""
    name, _, version = archive.removesuffix(".tar.gz").rpartition("-")
    return f"{re.sub('[-_.]+', '_', name).lower()}-{version}"


def repacked(path: Path) -> Path:
    """Replaces the archive by one with the normalised name, also of its folder, and without what differs."""
    folder, old = normalised(path.name), path.name.removesuffix(".tar.gz")
    with tarfile.open(path) as archive:
        members = [(plain(member), archive.extractfile(member)) for member in archive.getmembers()]
        for member, _ in members:
            member.name = folder + member.name.removeprefix(old)
        members.sort(key=lambda pair: pair[0].name)
        made = path.with_suffix(".next")
        with open(made, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, EPOCH) as packed:
            with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as target:
                for member, content in members:
                    member.pax_headers = {}
                    target.addfile(member, content)
    path.unlink()
    return made.replace(path.with_name(f"{folder}.tar.gz"))


directory = Path(sys.argv[1]).resolve()
os.chdir(Path(__file__).resolve().parent.parent)
# setuptools speaks about each file.
said = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
wheel = build_meta.build_wheel(str(directory))
archive = build_meta.build_sdist(str(directory))
os.dup2(said, 1)
print(wheel, repacked(directory / archive).name, sep="\n")
