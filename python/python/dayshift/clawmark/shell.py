"""`ctx.sandbox`: commands of stages and checkers. They run on this host over a copy of the container's files, whose differences are staged.

The commands come from the task's own code, which runs on this host anyway; `/workspace` and `/tmp` in them stand for the copy. What a command
takes from the clock is the simulated time.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .office import Look, ServiceError, Stager
from .workspace import Snapshots

__all__ = ["Finished", "Shell"]

SECONDS_MAX = 60

# Programs that the benchmark's image does not have, whatever this host has.
ABSENT = ("sqlite3",)


@dataclass(frozen=True)
class Finished:
    """What a command came to."""

    stdout: str
    stderr: str
    return_code: int


class Shell:
    def __init__(self, look: Look, stager: Stager | None, snapshots: Snapshots, *, helpful: bool) -> None:
        self._look = look
        self._stager = stager
        self._snapshots = snapshots
        self._helpful = helpful

    async def exec(self, command: str, **_options: object) -> Finished:
        absent = [] if self._helpful else [name for name in ABSENT if re.search(rf"(^|[;&|(]\s*){name}\b", command)]
        if absent:
            return Finished("", f"bash: line 1: {absent[0]}: command not found\n", 127)
        scene = self._look()
        folder = self._snapshots.lay_out_apart(scene)
        try:
            for name in ("workspace", "tmp"):
                (folder / name).mkdir(exist_ok=True)
            before = _files(folder)
            finished = self._run(command, folder, scene.now)
            self._bring_back(folder, before)
            return finished
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _run(self, command: str, folder: Path, now: str) -> Finished:
        here = str(folder)
        away = re.compile(r"(?<![\w./])/(workspace|tmp)(?=$|[/\s'\";&|)])")
        if self._helpful:
            # What the author meant to land needs the folder that nobody made.
            for parent in re.findall(r">\s*(/workspace/[\w./-]*)/[\w.-]+", command):
                (folder / parent.lstrip("/")).mkdir(parents=True, exist_ok=True)
        environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": here,
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "GIT_AUTHOR_DATE": now,
            "GIT_COMMITTER_DATE": now,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TEMPLATE_DIR": "",
        }
        # Scripts that an earlier command wrote name the container's paths too.
        for script in (folder / "tmp").glob("*.sh"):
            script.write_text(away.sub(rf"{here}/\1", script.read_text(encoding="utf-8")), encoding="utf-8")
        try:
            done = subprocess.run(
                ["bash", "-c", away.sub(rf"{here}/\1", command)],
                cwd=folder / "workspace",
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS_MAX,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Finished("", f"the command took longer than {SECONDS_MAX} seconds\n", 124)
        text = [stream.decode("utf-8", errors="replace").replace(here, "") for stream in (done.stdout, done.stderr)]
        _settle_git(folder)
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink() and here.encode() in (content := path.read_bytes()):
                path.write_bytes(content.replace(here.encode(), b""))
        return Finished(text[0], text[1], done.returncode)

    def _bring_back(self, folder: Path, before: dict[str, bytes | None]) -> None:
        after = _files(folder)
        if self._stager is None or after == before:
            return
        for path, content in after.items():
            if before.get(path, b"") == content and path in before:
                continue
            try:
                if content is None:
                    self._stager.do("files.make_folder", path=path)
                else:
                    self._stager.do("files.import", path=path, blob=self._stager.blob(content))
            except ServiceError:
                continue
        for path in sorted(before.keys() - after.keys(), reverse=True):
            try:
                self._stager.do("files.delete", path=path)
            except ServiceError:
                continue


def _files(folder: Path) -> dict[str, bytes | None]:
    """Returns the content of every file by its path in the container; None for a folder."""
    found: dict[str, bytes | None] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            continue
        found[f"/{path.relative_to(folder).as_posix()}"] = path.read_bytes() if path.is_file() else None
    return found


def _settle_git(folder: Path) -> None:
    """Writes every index anew: the times and numbers of this host's files in it would make each run's log another one."""
    for index in folder.rglob(".git/index"):
        work = index.parent.parent
        index.unlink()
        subprocess.run(["git", "read-tree", "HEAD"], cwd=work, capture_output=True, check=False)
