"""A task whose second stage breaks: the third never runs, the final checker does."""

METADATA = {"id": "demo_task2", "name": "Broken", "category": "demo", "environments": ["filesystem"]}

PROMPT = "Do nothing."


async def stage0(ctx):
    await ctx.fs.upload_dir(ctx.task_dir / "no assets", "/workspace")
    return "Begin."


async def stage1(ctx):
    await ctx.sandbox.exec("echo half > /workspace/half.txt")
    raise OSError("a stage that breaks")


async def stage2(ctx):
    return {"notification": "never", "time": "2026-03-18T09:00:00+00:00"}


async def _empty(ctx):
    return list(ctx.workspace.iterdir()) == []


async def _half_is_live(ctx):
    return await ctx.fs.exists("/workspace/half.txt") and not (ctx.workspace / "half.txt").exists()


RUBRIC = {
    "stage0": [{"id": "empty", "checker": _empty, "weight": 1.0}],
    "stage1": [{"id": "skipped1", "checker": _empty, "weight": 5.0}],
    "stage2": [{"id": "skipped2", "checker": _empty, "weight": 5.0}],
    "final": [{"id": "half", "checker": _half_is_live, "weight": 1.0}],
}
