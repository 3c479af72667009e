"""The methods of the blocking app have the types of those of the app."""

from typing import assert_type

from antiphon import BlockingApp, Receipt
from antiphon.threads import Activity, ThreadView


def talk(app: BlockingApp) -> None:
    """Use the methods as a script would."""
    thread = app.threads.create("chat", model="scripted:demo", owner="ann")
    assert_type(thread, str)
    assert_type(app.threads.say(thread, "Hello", id="m1"), Receipt)
    assert_type(app.library.latest(5), list[ThreadView])
    for activity in app.threads.until_idle(thread):
        assert_type(activity, Activity)
    for activity in app.threads.follow(thread, after=3):
        assert_type(activity, Activity)
    assert_type(app.threads.until_idle(thread).wait(), str)
    assert_type(app.call(app.app.chats.status(thread)), str)


def mistake(app: BlockingApp) -> None:
    """Use them with wrong arguments."""
    app.threads.say("a", 5)  # error
    app.threads.stop()  # error
    app.threads.fork("a", "3")  # error
