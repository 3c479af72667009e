"""Tools that a machine answers by itself: asking a person, and saying what the plan is."""

from antiphon.providers.base import Tool
from antiphon.tools.arguments import an_object

STATUSES = ("pending", "in_progress", "complete", "failed", "skipped")

ASK_USER = Tool(
    "ask_user",
    "Ask the person a question and wait for the answer; only when you cannot go on without it.",
    an_object(
        {
            "question": {"type": "string", "minLength": 1, "maxLength": 2_000},
            "options": {
                "type": "array",
                "items": {"type": "string", "minLength": 1, "maxLength": 200},
                "maxItems": 10,
                "default": [],
                "description": "Answers to choose from; another one can always be given.",
            },
        },
        required=["question"],
    ),
    risk="read",
)
UPDATE_PLAN = Tool(
    "update_plan",
    "Say what the steps of the plan are and how far each is; the whole plan every time.",
    an_object(
        {
            "steps": {
                "type": "array",
                "items": an_object(
                    {
                        "description": {"type": "string", "minLength": 1, "maxLength": 500},
                        "status": {"type": "string", "enum": list(STATUSES)},
                    },
                    required=["description", "status"],
                ),
                "minItems": 1,
                "maxItems": 50,
            },
            "note": {"type": "string", "maxLength": 1_000, "description": "Why the plan changed."},
        },
        required=["steps"],
    ),
    risk="read",
)
TALK: tuple[Tool, ...] = (ASK_USER, UPDATE_PLAN)
