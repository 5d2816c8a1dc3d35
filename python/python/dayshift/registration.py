"""Tells Gymnasium of the built-in scenarios, where it is installed. `import dayshift` does it."""

from ._dayshift import scenarios

__all__ = ["register"]


def register() -> None:
    """Registers every built-in scenario as `dayshift/ID`; the environment itself is imported when one is made."""
    import gymnasium

    for scenario in scenarios():
        identifier = f"dayshift/{scenario}"
        if identifier not in gymnasium.registry:
            gymnasium.register(identifier, entry_point="dayshift.gym:TextEnv", kwargs={"scenario": scenario})
