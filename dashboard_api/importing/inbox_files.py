"""Safe access to files of the inbox: it follows no link and overwrites no file.

Users who may write to a folder of the inbox can swap names during an import. So every name is opened relative
to an open folder, and checks look at the open file, not at the name.
"""

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path, PurePath
from typing import BinaryIO, Self

# Flags of os.open.
_READ_ONLY = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # opening a pipe must not block
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCK_FILE = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_LONGEST_NAME = 255  # in bytes: the limit of common file systems
_LONGEST_ENDING = 20  # a longer one counts as part of the stem

WHY = ".why.txt"  # the suffix of the file with the reason for a refusal


class UnsafeFile(Exception):
    """A file or folder that must not be used; the message says why."""


class Folder:
    """An open folder; a context manager that closes it."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    @classmethod
    def at(cls, path: Path) -> Self:
        """Open the folder at ``path``, which the operator named and which may be a link."""
        return cls(os.open(path, _READ_ONLY | os.O_DIRECTORY))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the descriptor."""
        os.close(self.descriptor)

    def folder(self, name: str) -> "Folder":
        """Open the folder ``name`` in this one; raise UnsafeFile."""
        try:
            flags = _READ_ONLY | os.O_DIRECTORY | os.O_NOFOLLOW
            return Folder(os.open(name, flags, dir_fd=self.descriptor))
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise UnsafeFile(f"{name} is a link or a file, and must be a folder.") from error
            raise

    def own_folder(self, name: str) -> "Folder":
        """Open or create the folder ``name``; raise UnsafeFile if another user owns it."""
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=self.descriptor)
        folder = self.folder(name)
        if os.fstat(folder.descriptor).st_uid not in self._trusted_owners():
            folder.close()
            raise UnsafeFile(f"{name} belongs to another user than the folder around it.")
        return folder

    def statuses(self) -> dict[str, os.stat_result]:
        """Return the status of each entry by name; do not follow links."""
        statuses = {}
        with os.scandir(self.descriptor) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    statuses[entry.name] = entry.stat(follow_symlinks=False)
        return statuses

    def status(self, name: str) -> os.stat_result:
        """Return the current status of the entry ``name``; do not follow a link."""
        return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)

    def open(self, name: str) -> BinaryIO:
        """Open a plain file of this folder for reading; raise UnsafeFile."""
        try:
            descriptor = os.open(name, _READ_ONLY | os.O_NOFOLLOW, dir_fd=self.descriptor)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise UnsafeFile("It is a link: put the file itself here.") from error
            raise
        file = os.fdopen(descriptor, "rb")
        if objection := self.objection(os.fstat(descriptor)):
            file.close()
            raise UnsafeFile(objection)
        return file

    def objection(self, status: os.stat_result) -> str:
        """Return why a file of this folder with this status is unsafe; empty if it is safe."""
        return objection(status, self._trusted_owners())

    def lock_file(self, name: str) -> int:
        """Open or create a plain file to lock, and return its descriptor; raise UnsafeFile."""
        try:
            descriptor = os.open(name, _LOCK_FILE, 0o600, dir_fd=self.descriptor)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise UnsafeFile(f"{name} is a link: remove it.") from error
            raise
        if objection := self.objection(os.fstat(descriptor)):
            os.close(descriptor)
            raise UnsafeFile(f"{name}: {objection}")
        return descriptor

    def move(self, name: str, target: "Folder", *, sidecar: str = "", reason: str = "") -> str:
        """Move a file into ``target`` under a free name, and return that name.

        ``sidecar`` is the suffix of the options file. It moves first, because it must not apply to the next
        report of this name. ``reason`` goes to a separate file.
        """
        suffixes = [sidecar, ""] if sidecar else [""]
        contents = dict.fromkeys(suffixes, b"")
        if reason:
            contents[WHY] = reason.encode()
        new = target.reserve(name, contents)
        try:
            while suffixes:
                source, path = name + suffixes[0], new + suffixes[0]
                # Replaces only the empty file that ``reserve`` created.
                os.rename(source, path, src_dir_fd=self.descriptor, dst_dir_fd=target.descriptor)
                del suffixes[0]
        except OSError:
            target.remove(new + suffix for suffix in [*suffixes, *([WHY] if reason else [])])  # not moved
            raise
        return new

    def reserve(self, name: str, contents: Mapping[str, bytes]) -> str:
        """Create a file for each suffix of the first name that is free with all of them; return the name."""
        for new in _numbered(name):
            created: list[str] = []
            try:
                for suffix, content in contents.items():
                    with os.fdopen(
                        os.open(new + suffix, _NEW_FILE, 0o640, dir_fd=self.descriptor), "wb"
                    ) as file:
                        file.write(content)
                    created.append(new + suffix)
            except FileExistsError:
                self.remove(created)
            else:
                break
        return new

    def remove(self, names: Iterable[str]) -> None:
        """Delete these files of the folder."""
        for name in names:
            os.unlink(name, dir_fd=self.descriptor)

    def _trusted_owners(self) -> set[int]:
        """Return this process's user, root, and the owner of the folder."""
        return {os.geteuid(), 0, os.fstat(self.descriptor).st_uid}


def objection(status: os.stat_result, owners: set[int]) -> str:
    """Return why a file with this status is unsafe; empty if it is safe."""
    if stat.S_ISLNK(status.st_mode):
        return "It is a link: put the file itself here."
    if not stat.S_ISREG(status.st_mode):
        return "It is not a plain file."
    if status.st_nlink != 1:
        return "It has a second name elsewhere (a hard link): put a copy here instead."
    if status.st_uid not in owners:
        return (
            f"It belongs to user {status.st_uid}, who owns neither this folder nor this command: "
            "let the user who writes the reports own the folder."
        )
    return ""


def _numbered(name: str) -> Iterator[str]:
    """Yield ``name``, then name-2, name-3 and so on, each short enough for a suffix."""
    ending = PurePath(name).suffix
    ending = ending if len(ending) <= _LONGEST_ENDING else ""
    stem = name.removesuffix(ending)
    for number in count(1):
        end = ending if number == 1 else f"-{number}{ending}"
        room = _LONGEST_NAME - len(os.fsencode(end)) - len(WHY)
        yield os.fsencode(stem)[:room].decode(errors="ignore") + end
