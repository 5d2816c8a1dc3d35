"""`ctx.fs`: the container's files, copied as `docker cp` copies them with its exit code thrown away. Nothing here raises.

Paths are the container's own: the workspace is `/workspace`, and the office's files service holds it under that name.
"""

import posixpath
from pathlib import Path
from typing import Any

from .office import Look, ServiceError, Stager

__all__ = ["Files"]


class Files:
    def __init__(self, look: Look, stager: Stager | None, sandbox: Any, *, helpful: bool) -> None:
        self._look = look
        self._stager = stager
        self._sandbox = sandbox
        self._helpful = helpful

    async def upload_dir(self, local: Path, remote: str) -> None:
        local, remote = Path(local), _clean(remote)
        self._make_folder(remote)
        if not local.is_dir():
            return
        for path in sorted(local.rglob("*")):
            inside = f"{remote}/{path.relative_to(local).as_posix()}"
            if path.is_dir():
                self._make_folder(inside)
            elif path.is_file():
                self._write(inside, path)

    async def upload_file(self, local: Path, remote: str) -> None:
        local, target = Path(local), _clean(remote)
        if not local.is_file():
            return
        kind = self._kind(target)
        if kind == "folder":
            target = f"{target}/{local.name}"
        elif kind is None:
            into_folder = remote.endswith("/")
            parent = target if into_folder else posixpath.dirname(target)
            if into_folder or self._kind(parent) != "folder":
                if not self._helpful:
                    return
                self._make_folder(parent)
                target = f"{target}/{local.name}" if into_folder else target
        self._write(target, local)

    async def exists(self, remote: str) -> bool:
        return self._kind(_clean(remote)) is not None

    async def read_file(self, remote: str) -> str:
        content = self._look().file(_clean(remote))
        return "" if content is None else content.decode("utf-8", errors="replace")

    def _kind(self, path: str) -> str | None:
        found = self._look().ask("files.stat", path=path)
        return None if found is None else ("folder" if found["kind"] == "folder" else "file")

    def _make_folder(self, path: str) -> None:
        try:
            self._stager.do("files.make_folder", path=path)
        except ServiceError:
            # It is there, or a file is in the way: docker says so and nobody listens.
            pass

    def _write(self, path: str, local: Path) -> None:
        blob = self._stager.blob(local.read_bytes())
        try:
            self._stager.do("files.import", path=path, blob=blob)
        except ServiceError:
            pass


def _clean(path: str) -> str:
    return posixpath.normpath(posixpath.join("/workspace", str(path)))
