"""`ctx.google_sheets`: workbooks with one tab, `Sheet1`, written RAW and read as they are shown."""

from typing import Any

from .office import Look, ServiceError, Stager

__all__ = ["Sheets"]


class Sheets:
    def __init__(self, look: Look, stager: Stager | None) -> None:
        self._look = look
        self._stager = stager

    async def create_spreadsheet(self, title: str) -> dict[str, str]:
        identity = self._stager.do("sheets.create", name=title, worksheet="Sheet1")["id"]
        return {"sheet_id": identity, "sheet_url": f"https://docs.google.com/spreadsheets/d/{identity}"}

    async def update_values(self, sheet_id: str, range: str, rows: list[list[Any]]) -> None:
        self._stager.do("sheets.write", book=sheet_id, range=range, rows=[list(row) for row in rows], mode="raw")

    async def append_rows(self, sheet_id: str, range: str, rows: list[list[Any]]) -> None:
        self._stager.do(
            "sheets.append", book=sheet_id, range=range, rows=[list(row) for row in rows], mode="raw", insert=True
        )

    async def read_values(self, sheet_id: str, range: str) -> list[list[str]]:
        try:
            rows = self._look().ask("sheets.rows", book=sheet_id, range=range)
        except ValueError as error:
            raise ServiceError(f"400: Unable to parse range: {range} ({error})", "sheets/400") from error
        if rows is None:
            raise ServiceError(f"400: Unable to parse range: {range}", "sheets/400")
        return [["" if cell is None else str(cell) for cell in row] for row in rows]

    async def get_spreadsheet_id(self, title: str) -> str | None:
        books = self._look().ask("sheets.books")
        return next((book["id"] for book in books if book["book"] == title), None)
