"""Types as checks: annotations compiled once to functions that find the first fault of a value.

1. A check is a function of a value that returns None or a `Fault`. `plain` are the types of values that need no call:
   a value of exactly such a type is right.
2. Values are JSON: `bool` is no `int`, an `int` is a `float`, NaN and infinity are no numbers. `Any` and `object` take
   any value. Other classes, such as those of codecs, take their instances.
3. A `TypedDict` takes its keys and no others.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from antiphon.chart.checks.problems import Fault, unknown_key, wrong
from antiphon.chart.errors import EventError

Check = Callable[[Any], Fault | None]
Schema = dict[str, Any]
PLAIN_NONE: frozenset[type] = frozenset()


class TypeCheck(NamedTuple):
    """A type as a check, with its words and its JSON Schema."""

    check: Check
    plain: frozenset[type]
    expected: str
    schema: Schema
    shape: "ObjectCheck | None" = None  # of a TypedDict


class Field(NamedTuple):
    """A key of a TypedDict."""

    type: TypeCheck
    is_required: bool


class ObjectCheck:
    """A TypedDict as a check of mappings."""

    __slots__ = ("_checks", "_plain", "_required", "fields", "kind", "name")

    def __init__(self, kind: type, name: str) -> None:
        self.kind = kind
        self.name = name
        self.fields: dict[str, Field] = {}
        self._plain: dict[str, frozenset[type]] = {}
        self._checks: dict[str, Check] = {}
        self._required: frozenset[str] = frozenset()

    def fill(self, fields: Mapping[str, Field]) -> None:
        """Set the keys; a type that contains itself is known before its keys are."""
        self.fields = dict(fields)
        self._plain = {key: field.type.plain for key, field in fields.items()}
        self._checks = {key: field.type.check for key, field in fields.items()}
        self._required = frozenset(key for key, field in fields.items() if field.is_required)

    def for_events(self) -> "ObjectCheck":
        """Return the same check for events of known type: it is selected by `type`, and need not look at it again."""
        check = ObjectCheck(self.kind, self.name)
        check.fill(self.fields)
        check._plain["type"] = frozenset([str])
        return check

    def check(self, value: Any) -> Fault | None:
        """Return the first fault of a value, or None. Every event from outside passes through here."""
        try:
            items = value.items()
        except AttributeError:
            return wrong(value, "an object")
        plain = self._plain
        for key, inner in items:
            if type(inner) not in plain.get(key, PLAIN_NONE):
                fault = self._look(key, inner)
                if fault is not None:
                    return fault
        return None if value.keys() >= self._required else self._missing(value)

    def _look(self, key: Any, value: Any) -> Fault | None:
        check = self._checks.get(key)
        if check is None:
            return unknown_key(str(key), value, [name for name in self.fields if name != "type"])
        fault = check(value)
        return None if fault is None else fault.under(key)

    def _missing(self, value: Any) -> Fault:
        key = next(key for key, field in self.fields.items() if field.is_required and key not in value)
        return Fault("missing", None, self.fields[key].type.expected, key)

    def schema(self) -> Schema:
        """Return the JSON Schema; other TypedDicts are references."""
        required = [key for key, field in self.fields.items() if field.is_required]
        about = self.description
        return {
            **({"description": about} if about else {}),
            "type": "object",
            "properties": {key: field.type.schema for key, field in self.fields.items()},
            **({"required": required} if required else {}),
            "additionalProperties": False,
        }

    @property
    def description(self) -> str:
        """First line of the docstring."""
        text = (self.kind.__doc__ or "").strip()
        return text.partition("\n")[0].strip()


def _accept(value: Any) -> Fault | None:
    return None


def _is_finite(value: float) -> bool:
    return value - value == 0


def _text(value: Any) -> Fault | None:
    return None if isinstance(value, str) else wrong(value, "a text")


def _whole_number(value: Any) -> Fault | None:
    is_right = isinstance(value, int) and not isinstance(value, bool)
    return None if is_right else wrong(value, "a whole number")


def _number(value: Any) -> Fault | None:
    is_right = isinstance(value, int | float) and not isinstance(value, bool) and _is_finite(value)
    return None if is_right else wrong(value, "a number")


def _boolean(value: Any) -> Fault | None:
    return None if isinstance(value, bool) else wrong(value, "true or false")


def _null(value: Any) -> Fault | None:
    return None if value is None else wrong(value, "null")


SCALARS: dict[Any, TypeCheck] = {
    str: TypeCheck(_text, frozenset([str]), "a text", {"type": "string"}),
    int: TypeCheck(_whole_number, frozenset([int]), "a whole number", {"type": "integer"}),
    float: TypeCheck(_number, frozenset([int]), "a number", {"type": "number"}),
    bool: TypeCheck(_boolean, frozenset([bool]), "true or false", {"type": "boolean"}),
    NoneType: TypeCheck(_null, frozenset([NoneType]), "null", {"type": "null"}),
    Any: TypeCheck(_accept, frozenset([str, int, bool, NoneType]), "any value", {}),
    object: TypeCheck(_accept, frozenset([str, int, bool, NoneType]), "any value", {}),
}


class TypeChecks:
    """Compiles types; each TypedDict once."""

    def __init__(self) -> None:
        self.shapes: dict[type, ObjectCheck] = {}

    def compile(self, annotation: Any) -> TypeCheck:
        """Return the check of a type; raise `EventError` if there is none."""
        scalar = SCALARS.get(annotation) if _is_hashable(annotation) else None
        if scalar is not None:
            return scalar
        if annotation is None:
            return SCALARS[NoneType]
        if is_typeddict(annotation):
            shape = self.shape(annotation)
            return TypeCheck(shape.check, PLAIN_NONE, "an object", {"$ref": f"#/$defs/{shape.name}"}, shape=shape)
        origin = get_origin(annotation)
        arguments = get_args(annotation)
        if origin in (Annotated, Required, NotRequired):
            return self.compile(arguments[0])
        if origin is Literal:
            return _literal(arguments)
        if origin in (Union, UnionType):
            return _union([self.compile(member) for member in arguments])
        if origin in (list, Sequence, Iterable, tuple) or annotation in (list, tuple):
            return _list(self.compile(arguments[0] if arguments else Any))
        if origin in (dict, Mapping) or annotation in (dict, Mapping):
            return _mapping(self.compile(arguments[1] if arguments else Any))
        if hasattr(annotation, "__value__"):  # `type Alias = …`
            return self.compile(annotation.__value__)
        if isinstance(annotation, type):
            return _instance(annotation)
        raise EventError(f"{annotation!r} cannot be checked; use JSON types, TypedDicts, Literals and unions")

    def shape(self, kind: type) -> ObjectCheck:
        """Return the shape of a TypedDict."""
        shape = self.shapes.get(kind)
        if shape is None:
            names = {other.name for other in self.shapes.values()}
            own = getattr(kind, "__name__", "")
            name = own if own not in names else f"{own}{len(names)}"
            shape = self.shapes[kind] = ObjectCheck(kind, name)
            shape.fill(self._fields(kind))
        return shape

    def _fields(self, kind: type) -> dict[str, Field]:
        if not is_typeddict(kind):
            raise EventError(f"{kind!r} is not a TypedDict")
        try:
            hints = get_type_hints(kind, include_extras=True)
        except NameError as error:
            raise EventError(f"{kind.__name__}: {error}; define it at the top level of its module") from None
        fields: dict[str, Field] = {}
        for key, hint in hints.items():
            origin = get_origin(hint)
            # Where annotations are strings, `__required_keys__` knows nothing of `NotRequired`.
            listed = key in kind.__required_keys__  # type: ignore[attr-defined]
            is_required = origin is Required or (listed and origin is not NotRequired)
            try:
                fields[key] = Field(self.compile(hint), is_required)
            except EventError as error:
                raise EventError(f"{kind.__name__}.{key}: {error}") from None
        return fields


def _is_hashable(annotation: Any) -> bool:
    try:
        hash(annotation)
    except TypeError:
        return False
    return True


def _literal(values: tuple[Any, ...]) -> TypeCheck:
    types = frozenset(map(type, values))
    allowed = frozenset(values)
    expected = repr(values[0]) if len(values) == 1 else f"one of {', '.join(map(repr, values))}"

    def check(value: Any) -> Fault | None:
        return None if type(value) in types and value in allowed else wrong(value, expected)

    return TypeCheck(check, PLAIN_NONE, expected, {"enum": list(values)})


def _list(item: TypeCheck) -> TypeCheck:
    plain = item.plain
    check_item = item.check

    def check(value: Any) -> Fault | None:
        if not isinstance(value, list | tuple):
            return wrong(value, "a list")
        for index, inner in enumerate(value):
            if type(inner) not in plain:
                fault = check_item(inner)
                if fault is not None:
                    return fault.under(index)
        return None

    return TypeCheck(check, PLAIN_NONE, "a list", {"type": "array", "items": item.schema})


def _mapping(inner: TypeCheck) -> TypeCheck:
    plain = inner.plain
    check_inner = inner.check

    def check(value: Any) -> Fault | None:
        if not isinstance(value, Mapping):
            return wrong(value, "an object")
        for key, part in value.items():
            if type(key) is not str:
                return wrong(key, "texts as keys")
            if type(part) not in plain:
                fault = check_inner(part)
                if fault is not None:
                    return fault.under(key)
        return None

    return TypeCheck(check, PLAIN_NONE, "an object", {"type": "object", "additionalProperties": inner.schema})


def _instance(kind: type) -> TypeCheck:
    expected = f"a {kind.__name__}"

    def check(value: Any) -> Fault | None:
        return None if isinstance(value, kind) else wrong(value, expected)

    return TypeCheck(check, PLAIN_NONE, expected, {})


def _union(members: list[TypeCheck]) -> TypeCheck:
    words = list(dict.fromkeys(member.expected for member in members))
    expected = " or ".join(words)
    checks = [member.check for member in members]
    shapes = [member.shape for member in members if member.shape is not None]

    def check(value: Any) -> Fault | None:
        inner: list[Fault] = []
        for check_member in checks:
            fault = check_member(value)
            if fault is None:
                return None
            if fault.path:
                inner.append(fault)
        # The fault inside the member that the value is meant to be says more than the list of all members.
        meant = _meant(shapes, value)
        if meant is not None:
            return meant.check(value)
        return inner[0] if len(inner) == 1 else wrong(value, expected)

    plain = frozenset(kind for member in members for kind in member.plain)
    schemas = [member.schema for member in members]
    return TypeCheck(check, plain, expected, {} if {} in schemas else {"anyOf": schemas})


def _meant(shapes: list[ObjectCheck], value: Any) -> ObjectCheck | None:
    """Return the TypedDict of a union whose `type` is that of a value."""
    if not isinstance(value, Mapping) or "type" not in value:
        return None
    for shape in shapes:
        tag = shape.fields.get("type")
        if tag is not None and tag.type.check(value["type"]) is None:
            return shape
    return None
