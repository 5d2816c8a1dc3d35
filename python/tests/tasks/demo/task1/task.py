"""A small task in the shape of the benchmark's: every service, three stages, verdicts that are known."""

from datetime import datetime

TUE = datetime(2026, 3, 17)

METADATA = {
    "id": "demo_task1",
    "name": "Orders",
    "category": "demo",
    "environments": ["filesystem", "email", "notion", "google_sheets", "calendar"],
    "env_config": {
        "email": {
            "users": {
                "mia": {"email": "mia@shop.example", "password": "x"},
                "boss": {"email": "boss@shop.example", "password": "x"},
                "客户": {"email": "kunde@kunde.example", "password": "x"},
            }
        }
    },
}

PROMPT = "Look after the orders."

LONG = "A subject that is longer than seventy-eight columns, so that sending it folds the header over two lines"


def text(value):
    return {"rich_text": [{"text": {"content": value}}]}


async def stage0(ctx):
    await ctx.fs.upload_dir(ctx.task_dir / "assets", "/workspace")
    await ctx.notion.create_page("Orders 2026")
    await ctx.notion.create_database(
        "orders",
        {
            "Note": {"rich_text": {}},
            "Order": {"title": {}},
            "Status": {"select": {"options": [{"name": "open"}]}},
            "Amount": {"number": {"format": "number"}},
            "Tags": {"multi_select": {}},
            "Due": {"date": {}},
            "Mail": {"email": {}},
        },
    )
    for name in ("O-1", "O-2"):
        ctx.last = await ctx.notion.add_database_row(
            "orders", {"Order": {"title": [{"text": {"content": name}}]}, "Status": {"select": {"name": "open"}}}
        )
    sheet = await ctx.google_sheets.create_spreadsheet("prices")
    await ctx.google_sheets.update_values(sheet["sheet_id"], "Sheet1!A1:C3", [["id", "price"], ["007", "1.75%"]])
    await ctx.calendar.create_calendar("team")
    await ctx.calendar.create_calendar("team")
    await ctx.calendar.add_event("team", "Call, with O-1; first", TUE.replace(hour=14), TUE.replace(hour=15), description="a\nb")
    await ctx.calendar.add_event("team", "Deadline", TUE.replace(hour=18), TUE.replace(hour=18), location="Raum 3")
    assert await ctx.email.send_email(from_user="boss", to="mia@shop.example", subject=LONG, body="Grüße\nzwei")
    return {"notification": "[IM] Begin.", "time": "2026-03-16T09:00:00+08:00"}


async def stage1(ctx):
    await ctx.fs.upload_file(ctx.task_dir / "inject" / "more.csv", "/workspace/input/")
    await ctx.fs.upload_file(ctx.task_dir / "inject" / "more.csv", "/workspace/nowhere/")
    await ctx.fs.upload_file(ctx.task_dir / "inject" / "missing.csv", "/workspace/input/")
    rows = await ctx.notion.query_db("ORDERS")
    await ctx.notion.update_db_row(rows[0]["id"], {"Status": {"select": {"name": "late"}}, "Note": text("changed")})
    sheet = await ctx.google_sheets.get_spreadsheet_id("prices")
    await ctx.google_sheets.append_rows(sheet, "Sheet1!A1:C1", [["008", "+5"]])
    for event in await ctx.calendar.find_events("team", "deadline"):
        await ctx.calendar.delete_event("team", event["uid"])
    await ctx.sandbox.exec("mkdir -p /workspace/made && cat > /workspace/made/note.txt << 'EOF'\nhello\nEOF")
    await ctx.sandbox.exec("sqlite3 /workspace/input/x.db 'CREATE TABLE t(a)'")
    return {"notification": "More.", "time": "2026-03-17T09:00:00+08:00"}


async def _files(ctx):
    names = sorted(path.relative_to(ctx.workspace).as_posix() for path in ctx.workspace.rglob("*") if path.is_file())
    return names == ["AGENTS.md", "input/orders.csv"] and not hasattr(ctx, "missing")


async def _rows(ctx):
    rows = await ctx.notion.query_db("orders")
    first = rows[-1]["properties"]
    return (
        len(rows) == 2
        and first["Order"]["title"][0]["plain_text"] == first["Order"]["title"][0]["text"]["content"] == "O-1"
        and first["Amount"]["number"] is None
        and first["Note"]["rich_text"] == []
        and first["Due"]["date"] is None
        and first["Tags"]["multi_select"] == []
        and first["Status"]["select"]["name"] == "open"
        and await ctx.notion.query_db("no such") == []
    )


async def _cells(ctx):
    sheet = await ctx.google_sheets.get_spreadsheet_id("prices")
    rows = await ctx.google_sheets.read_values(sheet, "Sheet1")
    return rows == [["id", "price"], ["007", "1.75%"]] and await ctx.google_sheets.get_spreadsheet_id("no") is None


async def _events(ctx):
    events = await ctx.calendar.get_events("team")
    inside = await ctx.calendar.get_events("team", start=TUE.replace(hour=18), end=TUE.replace(hour=20))
    call = (await ctx.calendar.find_events("team", "CALL"))[0]
    return (
        len(events) == 2
        and inside == []
        and call["summary"] == "Call, with O-1; first"
        and call["dtstart"] == "2026-03-17T14:00:00+00:00"
        and call["description"] == "a\nb"
        and "location" not in call
        and {each["name"] for each in await ctx.calendar.list_calendars()} == {"team"}
    )


async def _mails(ctx):
    mails = await ctx.email.get_emails("mia")
    mail = mails[0]
    return (
        len(mails) == 1
        and mail["from"] == '"boss@shop.example" <boss@shop.example>'
        and mail["to"] == "mia@shop.example"
        and mail["subject"].replace("\r\n", "") == LONG
        and "\r\n" in mail["subject"]
        and mail["body"] == "Grüße\nzwei"
        and mail["date"] == mail["cc"] == ""
        and await ctx.email.get_emails("boss") == []
    )


async def _unknown_calendar(ctx):
    try:
        await ctx.calendar.get_events("nobody")
    except ValueError:
        return True


async def _raises(ctx):
    raise RuntimeError("a checker that breaks")


async def _injected(ctx):
    return (
        (ctx.workspace / "input" / "more.csv").read_text() == "id,amount\nO-3,55\n"
        and not (ctx.workspace / "nowhere").exists()
        and (ctx.workspace / "made" / "note.txt").read_text() == "hello\n"
        and not (ctx.workspace / "input" / "x.db").exists()
        and await ctx.fs.read_file("/workspace/made/note.txt") == "hello\n"
        and await ctx.fs.read_file("/workspace/none") == ""
        and await ctx.fs.exists("/workspace/made")
    )


async def _moved(ctx):
    rows = await ctx.notion.query_db("orders")
    sheet = await ctx.google_sheets.get_spreadsheet_id("prices")
    cells = await ctx.google_sheets.read_values(sheet, "Sheet1!A3:C9")
    return (
        rows[0]["properties"]["Status"]["select"]["name"] == "late"
        and rows[0]["id"] == ctx.last
        and cells == [["008", "+5"]]
        and len(await ctx.calendar.get_events("team")) == 1
    )


async def _agent_wrote(ctx):
    report = ctx.workspace / "outputs" / "report.csv"
    return report.exists() and "O-3" in report.read_text(encoding="utf-8-sig")


async def _agent_mailed(ctx):
    mails = await ctx.email.get_emails("boss")
    return any("mia@shop.example" in mail["from"] and "done" in mail["subject"].lower() for mail in mails)


async def _newest_is_the_agents(ctx):
    files = [path for path in ctx.workspace.rglob("*.csv")]
    return max(files, key=lambda path: path.stat().st_mtime).name == "report.csv"


RUBRIC = {
    "stage0": [
        {"id": "files", "checker": _files, "weight": 1.0},
        {"id": "rows", "checker": _rows, "weight": 2.0},
        {"id": "cells", "checker": _cells},
        {"id": "events", "checker": _events, "weight": 1.5},
        {"id": "mails", "checker": _mails, "weight": 1.0},
        {"id": "unknown_calendar", "checker": _unknown_calendar, "weight": 0.5},
        {"id": "raises", "checker": _raises, "weight": 1.0},
    ],
    "stage1": [
        {"id": "injected", "checker": _injected, "weight": 1.0},
        {"id": "moved", "checker": _moved, "weight": 1.0},
        {"id": "agent_wrote", "checker": _agent_wrote, "weight": 2.0},
        {"id": "newest", "checker": _newest_is_the_agents, "weight": 1.0},
    ],
    "final": [{"id": "agent_mailed", "checker": _agent_mailed, "weight": 3.0}],
}
