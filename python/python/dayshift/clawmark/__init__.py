"""ClawMark's tasks, unmodified, against Dayshift's office: no Docker, no accounts.

    python -m dayshift.clawmark run TASKS_DIR [--task hr/task5] [--agent noop|busy|module:Class] [--out DIR]

TASKS_DIR is the `tasks` folder of your own checkout of evolvent-ai/ClawMark. Stage functions become exogenous events, checkers become
checks, and an episode leaves a log that verifies, replays and credits turns like any other.
"""

from .agents import Agent, Busy, Noop, Tools
from .runner import Result, regrade, run_task
from .tasks import LoadError, Task, find_tasks, load_task

__all__ = ["Agent", "Busy", "LoadError", "Noop", "Result", "Task", "Tools", "find_tasks", "load_task", "regrade", "run_task"]
