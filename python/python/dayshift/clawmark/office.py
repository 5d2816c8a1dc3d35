"""The office that a task sees: what is staged becomes an exogenous event, what is read comes from a scene."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dayshift import Episode, Rejected, Scene

__all__ = ["Context", "ServiceError", "Stager"]


class ServiceError(Exception):
    """What the original's client library would raise, such as an HTTP error. `code` is our rejection's."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class Stager:
    """Writes into the world from outside, in the world's name, as one stage of a task."""

    def __init__(self, episode: Episode, event: str) -> None:
        self.episode = episode
        self.event = event

    def do(self, tool: str, **arguments: Any) -> Any:
        """Stages one command and returns its answer. Raises ServiceError when the world refuses it."""
        try:
            return self.episode.stage(self.event, tool, arguments)
        except Rejected as error:
            raise ServiceError(str(error), error.code) from error

    def blob(self, content: bytes) -> str:
        return self.episode.blob(content)


class Context:
    """The `ctx` of stages and checkers. A service that the task does not declare is no attribute; others may be set freely."""

    def __init__(self, task_dir: Path, workspace: Path | None, services: dict[str, Any]) -> None:
        self.task_dir = task_dir
        self.workspace = workspace
        self.snapshots: dict[str, Path] = {}
        for name, service in services.items():
            setattr(self, name, service)


Look = Callable[[], Scene]
