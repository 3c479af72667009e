"""Settings with the problems that the server finds, for the form of the web app; run it to write them."""

import json
from pathlib import Path
from typing import Any

from antiphon.debate.machine.config import problems_with

CASES = Path("web/src/debates/validation.cases.json")
TOPIC = "Is a tram worth its price?"
MODEL = "scripted:debate"
SIDES: list[dict[str, Any]] = [{"id": side, "position": side, "model": MODEL} for side in ("for", "against")]
NEUTRAL: dict[str, Any] = {"id": "neutral", "position": "neutral", "model": MODEL}
VALID: dict[str, Any] = {"topic": TOPIC, "participants": SIDES}
CHANGES: list[dict[str, Any]] = [
    {},
    *(
        {"topic": topic}
        for topic in ("Cars?", " " * 20, "x" * 500, "x" * 501, "🚋" * 10, "🚋" * 9, "It's\n", "a \"b\" 'c'")
    ),
    *({"format": format} for format in ("lincoln-douglas", "roundtable", "duel")),
    *({"maxRounds": rounds} for rounds in (0, 1, 10, 11, 2.5, "many", "")),
    *({"timeoutPerRound": seconds} for seconds in (0, 0.5, 3600, 3601, "soon")),
    *({"costLimit": limit} for limit in (0.1, 0.11, None, -1, "much")),
    *({"warnAtCost": warn} for warn in (0, 0.001, None, "little")),
    {"costLimit": 2, "warnAtCost": 2},
    {"costLimit": 2, "warnAtCost": 3.5},
    {"costLimit": 2, "warnAtCost": 1.5},
    *({"onCostLimit": choice} for choice in ("judge", "stop")),
    *({"earlyStop": choice} for choice in (True, "yes")),
    *({"contextLimit": tokens} for tokens in (199, 200, 1_000_000, 1_000_001)),
    *({"maxTokens": tokens} for tokens in (0, 1, 100_000, 100_001)),
    *({"judge": {"evaluationCriteria": criteria}} for criteria in (["a"], [], ["x"] * 11)),
    *({"judge": {"model": model}} for model in (MODEL, "debate", "openai:")),
    *({"participants": seats} for seats in ([], SIDES[:1], [*SIDES, NEUTRAL], [*SIDES, *SIDES, NEUTRAL])),
    {"participants": [*SIDES, NEUTRAL], "format": "roundtable"},
    {"participants": [*SIDES, {**SIDES[0], "id": "for-2"}], "format": "lincoln-douglas"},
    {"participants": [SIDES[0], {**SIDES[0], "id": "for-1"}]},
    {"participants": [{**SIDES[0], "model": ""}, {**SIDES[1], "model": "gpt"}]},
    {"participants": [{**SIDES[0], "model": "local:my file.gguf"}, {**SIDES[1], "model": "ollama+http:x"}]},
    {"participants": [{**SIDES[0], "name": " "}, {**SIDES[1], "name": "n" * 81}]},
    {"participants": [{**SIDES[0], "name": "Zoë"}, {**SIDES[1], "name": " Zoë "}]},
    {"participants": [{**SIDES[0], "name": "Bruno"}, SIDES[1]]},
    {"participants": [{**SIDES[0], "systemPrompt": "p" * 4001}, {**SIDES[1], "position": "both"}]},
]


def make_cases() -> str:
    """The cases as JSON."""
    cases = []
    for change in CHANGES:
        settings = {**VALID, **change}
        problems = [{"field": one.field, "problem": one.message} for one in problems_with(settings)]
        cases.append({"settings": settings, "problems": problems})
    return json.dumps(cases, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    CASES.write_text(make_cases(), encoding="utf-8")
