"""The workspace on a disk, for checkers that read it with pathlib, `open` or libraries, and a path type that notes what was looked at.

Files are laid out once per content and time and linked from there, so a snapshot costs a link a file. What a checker does to a snapshot is
its own affair: the next one does not see it unless it writes into a file in place, which none of the tasks does.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from dayshift import Scene

__all__ = ["ROOT", "Snapshots", "TracedPath", "tracing"]

ROOT = "/workspace"

# Notes one path of the laid-out workspace: how it was looked at, and where.
Note = Callable[[str, str], None]

_note: ContextVar[tuple[str, Note] | None] = ContextVar("note", default=None)


class Snapshots:
    """Lays worlds out below one temporary folder. `close` takes it away."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="dayshift-"))
        self._pool = self._folder / "pool"
        self._pool.mkdir()
        self._made: dict[int, Path] = {}

    def lay_out(self, scene: Scene, *, root: str = ROOT) -> Path:
        """Returns the folder that shows `root` as it is in `scene`: the same folder for the same files. Its files are for reading."""
        rows = [row for row in scene.tree() if row[0] == root or row[0].startswith(f"{root}/")]
        key = hash((root, *rows))
        made = self._made.get(key)
        if made is None:
            made = self._folder / f"{len(self._made):04}" / "workspace"
            made.mkdir(parents=True)
            self._fill(made, rows, scene, root, linked=True)
            self._made[key] = made
        return made

    def lay_out_apart(self, scene: Scene) -> Path:
        """Returns a new folder that shows the whole world's files and may be written to."""
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        self._fill(folder, scene.tree(), scene, "", linked=False)
        return folder

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _fill(self, into: Path, rows: list[tuple], scene: Scene, root: str, *, linked: bool) -> None:
        folders = []
        for path, size, digest, mode, modified, written in rows:
            target = into / path.removeprefix(root).lstrip("/")
            # Later records are later within one simulated moment too.
            time = modified * 1_000_000 + written * 1000
            if size is None:
                target.mkdir(parents=True, exist_ok=True)
                folders.append((target, time))
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if linked:
                os.link(self._pooled(scene, path, digest, mode, time), target)
            else:
                self._write(target, scene, path, mode, time)
        for target, time in reversed(folders):
            os.utime(target, ns=(time, time))

    def _pooled(self, scene: Scene, path: str, digest: str, mode: int, time: int) -> Path:
        pooled = self._pool / f"{digest}-{time}-{mode:o}"
        if not pooled.exists():
            self._write(pooled, scene, path, mode, time)
        return pooled

    def _write(self, target: Path, scene: Scene, path: str, mode: int, time: int) -> None:
        target.write_bytes(scene.file(path) or b"")
        os.chmod(target, mode)
        os.utime(target, ns=(time, time))


@contextmanager
def tracing(folder: Path, scene: Scene) -> Iterator["TracedPath"]:
    """Notes in `scene` what is looked at below `folder`, which shows its workspace; yields the path to begin with."""
    seen: set[tuple[str, str]] = set()

    def note(how: str, path: str) -> None:
        if (how, path) not in seen:
            seen.add((how, path))
            scene.ask(f"files.{how}", path=f"{ROOT}/{path}" if path != "." else ROOT)

    token = _note.set((f"{folder}", note))
    try:
        yield TracedPath(folder)
    finally:
        _note.reset(token)


class TracedPath(type(Path())):
    """A path that notes which files and folders of the workspace were looked at. What it names is as a plain path would have it."""

    __slots__ = ()

    def _look(self, how: str) -> None:
        current = _note.get()
        if current is None:
            return
        folder, note = current
        own = super().__str__()
        if own == folder or own.startswith(f"{folder}/"):
            note(how, own[len(folder) + 1 :] or ".")

    def __fspath__(self) -> str:
        # Whoever is handed the path may read what is there.
        self._look("digest")
        return super().__str__()

    def __str__(self) -> str:
        # Libraries take paths as text.
        self._look("digest")
        return super().__str__()

    def exists(self, **options: Any) -> bool:
        self._look("exists")
        return os.path.exists(super().__str__())

    def is_file(self, **options: Any) -> bool:
        self._look("exists")
        return os.path.isfile(super().__str__())

    def is_dir(self, **options: Any) -> bool:
        self._look("exists")
        return os.path.isdir(super().__str__())

    def iterdir(self):
        self._look("list")
        for name in sorted(os.listdir(super().__str__())):
            yield self / name

    def glob(self, pattern: str, **options: Any):
        self._look_below(deep="**" in pattern or "/" in pattern)
        yield from sorted(super().glob(pattern, **options))

    def rglob(self, pattern: str, **options: Any):
        self._look_below(deep=True)
        yield from sorted(super().rglob(pattern, **options))

    def _look_below(self, *, deep: bool) -> None:
        """Notes what folders hold, since a file that is not there is a finding too."""
        self._look("list")
        if deep:
            own = super().__str__()
            for folder, below, _ in os.walk(own):
                for name in below:
                    type(self)(folder, name)._look("list")
