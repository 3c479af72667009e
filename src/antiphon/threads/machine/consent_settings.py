"""The settings of consent, as threads are created with them."""

from collections.abc import Callable, Mapping

from antiphon.threads.machine.permission_rules import MODES

Check = Callable[[object], bool]
LONGEST_MS = 10**12


def _list_of(fits: Check) -> Check:
    return lambda value: isinstance(value, list | tuple) and all(fits(item) for item in value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_override(value: object) -> bool:
    return isinstance(value, Mapping) and _is_text(value.get("pattern")) and value.get("decision") in ("allow", "deny")


def _is_timeout(value: object) -> bool:
    return type(value) is int and 1 <= value <= LONGEST_MS


CONSENT: dict[str, Check] = {
    "mode": lambda value: value in MODES,
    "blocked": _list_of(_is_text),
    "tripped": _list_of(_is_text),
    "autoAllow": _list_of(_is_text),
    "overrides": _list_of(_is_override),
    "timeoutMs": _is_timeout,
}
# Keys that the service sets itself.
OTHERS = ("approver", "history")
FORMS = {"overrides": "a list of earlier decisions", "timeoutMs": f"a whole number from 1 to {LONGEST_MS}"}
CONSENT_FORM = f"null, or an object with {', '.join(CONSENT)}, each as the permission machine takes it"


def consent_problem(value: object) -> str | None:
    """Return why a program may not create a thread with this consent, or None; an unknown key is a problem too."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        return f"consent is {value!r}; it must be {CONSENT_FORM}"
    for key, setting in value.items():
        if key not in CONSENT and key not in OTHERS:
            return f"consent has an unknown key {key!r}; known: {', '.join(CONSENT)}"
        if key in CONSENT and not CONSENT[key](setting):
            form = f"one of {', '.join(MODES)}" if key == "mode" else FORMS.get(key, "a list of patterns")
            return f"consent.{key} is {setting!r}; it must be {form}"
    return None


def is_consent(value: object) -> bool:
    """Return whether a value can be the consent of a thread."""
    if value is None:
        return True
    return isinstance(value, Mapping) and all(fits(value[key]) for key, fits in CONSENT.items() if key in value)
