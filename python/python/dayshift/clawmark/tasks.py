"""Loading a task: a Python file with METADATA, PROMPT, stage functions and a RUBRIC."""

import ast
import importlib.util
import inspect
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["ENVIRONMENTS", "Checker", "LoadError", "Task", "find_tasks", "load_task"]

ENVIRONMENTS = ("filesystem", "email", "notion", "google_sheets", "calendar")

REQUIRED = ("id", "name", "category", "environments")


class LoadError(Exception):
    """A file that is no task; the message says what is missing."""


@dataclass(frozen=True)
class Checker:
    """One line of the rubric."""

    id: str
    stage: int | None
    """The stage at whose end it runs; None for a final one."""
    weight: float
    function: Callable[[Any], Awaitable[Any]]


@dataclass(frozen=True)
class Task:
    """A loaded task."""

    name: str
    """Where it stands below the tasks folder, such as `hr/task5`."""
    folder: Path
    metadata: dict[str, Any]
    prompt: str
    stages: list[Callable[[Any], Awaitable[Any]]]
    checkers: list[Checker]
    opens: list[datetime | None] = field(default_factory=list)
    """When each stage says that it takes place, as far as its source says so in so many words."""

    @property
    def id(self) -> str:
        return str(self.metadata["id"])

    @property
    def environments(self) -> list[str]:
        return list(self.metadata["environments"])

    @property
    def users(self) -> dict[str, str]:
        """The mail addresses by logical name."""
        config = (self.metadata.get("env_config") or {}).get("email") or {}
        return {name: user["email"] for name, user in (config.get("users") or {}).items()}


def find_tasks(folder: Path) -> list[Path]:
    """Returns the task files below `folder`, in the order of their names, numbers as numbers."""

    def rank(path: Path) -> tuple[str, int, str]:
        digits = "".join(filter(str.isdigit, path.parent.name))
        return path.parent.parent.name, int(digits or 0), path.parent.name

    return sorted(folder.rglob("task.py"), key=rank)


def load_task(path: Path, *, root: Path | None = None) -> Task:
    """Loads the task in the file `path`. Raises LoadError when it is none."""
    name = path.parent.relative_to(root).as_posix() if root else f"{path.parent.parent.name}/{path.parent.name}"
    try:
        module = _import(path, f"clawmark_task_{name.replace('/', '_').replace('-', '_')}")
    except Exception as error:
        raise LoadError(f"{path}: cannot be imported: {error!r}") from error
    metadata = _need(module, "METADATA", dict, path)
    if missing := [key for key in REQUIRED if key not in metadata]:
        raise LoadError(f"{path}: METADATA lacks {', '.join(missing)}")
    if unknown := [name for name in metadata["environments"] if name not in ENVIRONMENTS]:
        raise LoadError(f"{path}: there is no environment {', '.join(map(repr, unknown))}; known are {', '.join(ENVIRONMENTS)}")
    prompt = _need(module, "PROMPT", str, path)
    if not prompt.strip():
        raise LoadError(f"{path}: PROMPT is empty")
    stages = []
    while (stage := getattr(module, f"stage{len(stages)}", None)) is not None:
        if not inspect.iscoroutinefunction(stage):
            raise LoadError(f"{path}: stage{len(stages)} is no async function")
        stages.append(stage)
    if not stages:
        raise LoadError(f"{path}: there is no stage0")
    checkers = list(_checkers(_need(module, "RUBRIC", dict, path), len(stages), path))
    return Task(name, path.parent, metadata, prompt, stages, checkers, _times(path, len(stages)))


def _import(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and the like look their module up.
    sys.modules[name] = module
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = written
    return module


def _need(module: ModuleType, name: str, kind: type, path: Path) -> Any:
    value = getattr(module, name, None)
    if not isinstance(value, kind):
        raise LoadError(f"{path}: {name} is missing or no {kind.__name__}")
    return value


def _checkers(rubric: dict[str, Any], stages: int, path: Path):
    for key, items in rubric.items():
        number = key.removeprefix("stage")
        if key != "final" and not (number.isdigit() and int(number) < stages):
            raise LoadError(f"{path}: RUBRIC has the key {key!r}; known are stage0 to stage{stages - 1} and final")
        for item in items:
            function = item.get("checker")
            if not inspect.iscoroutinefunction(function):
                raise LoadError(f"{path}: the checker of {item.get('id')!r} is no async function")
            stage = None if key == "final" else int(number)
            yield Checker(str(item["id"]), stage, float(item.get("weight", 1.0)), function)


def _times(path: Path, stages: int) -> list[datetime | None]:
    """Reads the times that the stages return, without running them: the constant under "time"."""
    times: list[datetime | None] = [None] * stages
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.AsyncFunctionDef) or not node.name.removeprefix("stage").isdigit():
            continue
        number = int(node.name.removeprefix("stage"))
        if not node.name.startswith("stage") or number >= stages:
            continue
        for inner in ast.walk(node):
            if not (isinstance(inner, ast.Return) and isinstance(inner.value, ast.Dict)):
                continue
            for key, value in zip(inner.value.keys, inner.value.values):
                if isinstance(key, ast.Constant) and key.value == "time" and isinstance(value, ast.Constant):
                    times[number] = _time(value.value)
    return times


def _time(text: Any) -> datetime | None:
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return time if time.tzinfo else None
