"""Dayshift: an event-sourced simulator of an office worker's week, for training and grading AI coworkers.

    env = dayshift.make("payment-change-v1")
    observation, info = env.reset(seed=7)
    observation, reward, terminated, truncated, info = env.step({"tool": "mail.search", "arguments": {"query": "invoice"}})
"""

from ._dayshift import (
    BadScenario,
    Check,
    Closed,
    Credit,
    DayshiftError,
    Divergence,
    Env,
    Episode,
    Key,
    Log,
    Rejected,
    Report,
    Scenario,
    Scene,
    Store,
    StoreFailed,
    VectorEnv,
    __version__,
    load,
    make,
    replay,
    scenarios,
    verify,
)

__all__ = [
    "BadScenario",
    "Check",
    "Closed",
    "Credit",
    "DayshiftError",
    "Divergence",
    "Env",
    "Episode",
    "Key",
    "Log",
    "Rejected",
    "Report",
    "Scenario",
    "Scene",
    "Store",
    "StoreFailed",
    "VectorEnv",
    "__version__",
    "load",
    "make",
    "replay",
    "scenarios",
    "verify",
]

try:
    from .registration import register as _register

    _register()
except ImportError:
    # Gymnasium is not installed, or its own import is under way and will find nothing to register yet.
    pass
