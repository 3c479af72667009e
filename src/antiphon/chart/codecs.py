"""Codecs: how values of types that JSON does not have are stored and read back.

A coded value is stored as `{"antiphon$type": tag, "value": form}`. A dict that has this key itself is stored as pairs
under the tag `dict`, so that it is never read as a coded value. The class of a stored value is found by its tag among
the registered ones; it is never imported by a name that is in the stored data.
"""

from collections.abc import Callable, Mapping
from enum import Enum, Flag
from typing import Any, NamedTuple, TypeVar

from antiphon.chart.errors import CodecError

T = TypeVar("T")
TAG = "antiphon$type"
VALUE = "value"
PAIRS = "dict"
JSON_TYPES = (str, int, float, bool, type(None), dict, list, tuple)
STANDARD_MODULES = frozenset(("datetime", "decimal", "uuid"))
STANDARD_TAGS = frozenset(("datetime", "date", "decimal", "uuid"))


class Codec(NamedTuple):
    """How the values of one class are stored; what `encode` returns may hold coded values again."""

    type: type
    tag: str
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]
    is_immutable: bool = False  # then a value need not be copied


_by_type: dict[type, Codec] = {}
_by_tag: dict[str, Codec] = {PAIRS: Codec(dict, PAIRS, list, dict)}


def find_codec(type: type) -> Codec | None:
    """Return the codec of a class, or None; a subclass needs a codec of its own."""
    codec = _by_type.get(type)
    if codec is None and type.__module__ in STANDARD_MODULES:
        _load_standard_codecs()
        codec = _by_type.get(type)
    return codec


def register_codec(
    cls: type[T],
    *,
    tag: str | None = None,
    encode: Callable[[T], Any] | None = None,
    decode: Callable[[Any], T] | None = None,
) -> type[T]:
    """Let values of a class be stored, under its name or a tag; return the class, so that this can decorate it.

    Enums, dataclasses and msgspec Structs need no functions. For other classes `encode` returns JSON or values that
    have codecs, and `decode` creates the value again.
    """
    if cls in JSON_TYPES:
        raise TypeError(f"{cls.__name__} is JSON already and needs no codec")
    if (encode is None) is not (decode is None):
        raise TypeError(f"the codec of {cls.__name__} needs both encode and decode")
    name = tag or cls.__name__
    if name in STANDARD_TAGS:
        _load_standard_codecs()
    _add(_codec_of(cls, name) if encode is None or decode is None else Codec(cls, name, encode, decode))
    return cls


def encode_coded(codec: Codec, value: Any, convert: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the stored form of a value; `convert` is applied to what its codec returns."""
    try:
        form = codec.encode(value)
    except Exception as error:
        raise CodecError(f"{value!r} cannot be stored as {codec.tag}: {error}") from error
    return {TAG: codec.tag, VALUE: convert(form)}


def escape_tagged(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stored form of a dict that has the key of tags."""
    return {TAG: PAIRS, VALUE: [[key, value] for key, value in data.items()]}


def decode_coded(data: dict[str, Any]) -> Any:
    """Return the value that a dict is the stored form of: the dict itself, unless it has a tag."""
    tag = data.get(TAG)
    if type(tag) is not str or len(data) != 2 or VALUE not in data:
        return data
    codec = _by_tag.get(tag)
    if codec is None and tag in STANDARD_TAGS:
        _load_standard_codecs()
        codec = _by_tag.get(tag)
    if codec is None:
        raise CodecError(f"no codec has the tag {tag!r}; call register_codec for its class before reading it")
    try:
        return codec.decode(data[VALUE])
    except Exception as error:
        raise CodecError(f"the stored form of a {tag} cannot be read: {error}") from error


def copy_coded(codec: Codec, value: Any, convert: Callable[[Any], Any]) -> Any:
    """Return a value that shares nothing that can change with the original."""
    if codec.is_immutable:
        codec.encode(value)  # which refuses values that could not be read back
        return value
    return codec.decode(convert(codec.encode(value)))


def _add(codec: Codec) -> None:
    other = _by_tag.get(codec.tag)
    if other is not None and _name(other.type) != _name(codec.type):
        raise ValueError(f"the tag {codec.tag!r} belongs to {_name(other.type)}; give {_name(codec.type)} another tag")
    _by_tag[codec.tag] = codec
    _by_type[codec.type] = codec


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _codec_of(cls: type, tag: str) -> Codec:
    if issubclass(cls, Flag):
        return Codec(cls, tag, lambda member: member.value, cls, True)
    if issubclass(cls, Enum):
        return Codec(cls, tag, lambda member: member.name, lambda name: cls[name], True)
    if hasattr(cls, "__dataclass_fields__"):
        return _dataclass_codec(cls, tag)
    names: tuple[str, ...] | None = getattr(cls, "__struct_fields__", None)
    if names is not None:  # of msgspec, which need not be imported for this
        return Codec(cls, tag, _field_reader(names), lambda form: cls(**form))
    raise TypeError(f"{cls.__name__} is no Enum, dataclass or Struct; give its codec encode and decode")


def _dataclass_codec(cls: type, tag: str) -> Codec:
    from dataclasses import fields

    names = tuple(field.name for field in fields(cls))
    late = frozenset(field.name for field in fields(cls) if not field.init)

    def decode(form: dict[str, Any]) -> Any:
        value = cls(**{name: inner for name, inner in form.items() if name not in late})
        for name in late & form.keys():
            object.__setattr__(value, name, form[name])
        return value

    return Codec(cls, tag, _field_reader(names), decode)


def _field_reader(names: tuple[str, ...]) -> Callable[[Any], dict[str, Any]]:
    return lambda value: {name: getattr(value, name) for name in names}


def _load_standard_codecs() -> None:
    """Add the codecs of the standard library when one is first needed: importing its modules takes milliseconds."""
    from datetime import date, datetime
    from decimal import Decimal
    from uuid import UUID

    if UUID not in _by_type:
        _add(Codec(datetime, "datetime", _encode_datetime, _decode_datetime, True))
        _add(Codec(date, "date", date.isoformat, date.fromisoformat, True))
        _add(Codec(Decimal, "decimal", str, Decimal, True))
        _add(Codec(UUID, "uuid", str, UUID, True))


def _encode_datetime(value: Any) -> Any:
    """Return a time as ISO text; times of a named zone, and the second of two equal local times, need more."""
    from datetime import timezone

    zone = value.tzinfo
    if zone is None or type(zone) is timezone:
        return value.isoformat() if not value.fold else {"local": value.isoformat(), "fold": 1}
    key = getattr(zone, "key", None)
    if type(key) is not str:
        raise ValueError("its time zone is neither a datetime.timezone nor a named zoneinfo.ZoneInfo")
    return {"local": value.replace(tzinfo=None).isoformat(), "zone": key, "fold": value.fold}


def _decode_datetime(form: Any) -> Any:
    from datetime import datetime

    if isinstance(form, str):
        return datetime.fromisoformat(form)
    value = datetime.fromisoformat(form["local"]).replace(fold=form["fold"])
    if "zone" not in form:
        return value
    from zoneinfo import ZoneInfo

    return value.replace(tzinfo=ZoneInfo(form["zone"]))
