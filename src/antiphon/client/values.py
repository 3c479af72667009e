"""JSON of a server as the values that `app.threads` returns."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from antiphon.runtime.histories import parse_cursor
from antiphon.runtime.records import Receipt, RootState
from antiphon.threads.activity import Activity
from antiphon.threads.consent import permission_from_json
from antiphon.threads.following import ActivityPage, ThreadChange
from antiphon.threads.kinds import ThreadView
from antiphon.threads.pages import ThreadPage
from antiphon.threads.requests import OpenRequest

Json = Mapping[str, Any]
VIEW = tuple(field.name for field in fields(ThreadView) if field.name != "cost_usd")


def view_from_json(row: Json) -> ThreadView:
    """Return a thread of a list."""
    return ThreadView(cost_usd=row["costUsd"], **{name: row[name] for name in VIEW})


def request_from_row(row: Json) -> OpenRequest:
    """Return an open request."""
    return OpenRequest(
        id=row["id"],
        address=row["address"],
        reason=row["reason"],
        speaker=row.get("speaker"),
        text=row.get("text"),
        options=tuple(row.get("options", ())),
        calls=tuple(row.get("calls", ())),
        timeout_ms=row.get("timeoutMs"),
        limit=row.get("limit"),
    )


def page_from_json(page: Json) -> ThreadPage:
    """Return a thread that was opened."""
    return ThreadPage(
        view_from_json(page),
        page.get("content", {}),
        page["cursor"],
        tuple(map(request_from_row, page["requests"])),
        {address: tuple(events) for address, events in page["can"].items()},
        page["transcript"],
        permissions=tuple(map(permission_from_json, page.get("permissions", ()))),
    )


def activity_from_json(row: Json) -> Activity:
    """Return an activity."""
    return Activity(
        row["seq"], row["at"], row["kind"], row["facts"], row.get("speaker"), row["cursor"], row.get("offset")
    )


def activities_from_json(page: Json) -> ActivityPage:
    """Return a page of activities."""
    return ActivityPage(tuple(map(activity_from_json, page["items"])), page["cursor"], page["more"])


def change_from_json(row: Json) -> ThreadChange:
    """Return a change of a followed thread, or of the list of threads."""
    activity = activity_from_json(row["activity"]) if "activity" in row else None
    return ThreadChange(row["kind"], row.get("thread", ""), row.get("cursor", ""), activity, row.get("reason"))


def receipt_from_json(row: Json, key: str) -> Receipt:
    """Return the receipt of an event that was sent with a key."""
    return Receipt(row["status"], key, row["seq"], history=parse_cursor(row["cursor"]).history)


def state_from_json(step: int, snapshot: Json) -> RootState:
    """Return the state of the root actor in a snapshot."""
    children = {id: child["snapshot"].get("value") for id, child in snapshot["children"].items()}
    return RootState(step, snapshot["status"], snapshot["value"], snapshot["context"], children)
