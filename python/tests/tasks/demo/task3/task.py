"""A task that is none: its rubric names a stage that is not there."""

METADATA = {"id": "demo_task3", "name": "None", "category": "demo", "environments": ["filesystem"]}

PROMPT = "Do nothing."


async def stage0(ctx):
    return "Begin."


async def _yes(ctx):
    return True


RUBRIC = {"stage1": [{"id": "yes", "checker": _yes}]}
