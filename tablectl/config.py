"""The configuration: one TOML file, checked as a whole before anything starts.

``config.example.toml`` beside this module documents every key. Environment variables override the
file: ``TABLECTL_SERVER__PORT=9000``. Relative paths are relative to the file.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import tomllib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from tablectl.rules.case import CaseError
from tablectl.rules.registry import get as get_rules
from tablectl.services.broker import BrokerAddressError, parse_broker_url, parse_listen
from vision.geometry import TableGeometry
from vision.sources.frame import SourceSpecError
from vision.sources.spec import parse_spec

ENV_PREFIX: Final = "TABLECTL_"
_CUTOFF: Final = 0.5


class ConfigError(Exception):
    """The configuration is wrong: file, key, reason and, for unknown keys, the nearest one."""


def default_state_dir() -> Path:
    """Where ledger and recordings lie unless configured: the user's data folder."""
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "tablectl"


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


Port = Annotated[int, Field(ge=0, le=65535)]
Band = tuple[float, float]


class GeometryConfig(_Section):
    """Measures of the felt, see :class:`vision.geometry.TableGeometry`."""

    tile_width_mm: float = Field(28.0, gt=5, lt=80)
    tile_length: float = Field(1.35, gt=1, lt=2)
    tile_depth: float = Field(0.75, gt=0.2, lt=1.5)
    half: float = Field(15.6, gt=5, lt=50)
    panel: float = Field(2.7, ge=0, lt=20)
    river: Band = (2.9, 8.7)
    wall: Band = (8.9, 10.5)
    exposed: Band = (10.7, 12.5)
    rack: Band = (12.7, 14.8)
    river_columns: int = Field(6, ge=1, le=20)
    marker_size_mm: float = Field(38.0, gt=5, lt=300)
    marker_inset_mm: float = Field(30.0, ge=0, lt=500)


class TableConfig(_Section):
    """Which table this is and who sits there."""

    id: str = Field("table-1", pattern=r"^[A-Za-z0-9_-]{1,64}$")
    name: str = Field("Mahjong table", min_length=1, max_length=80)
    seats: tuple[str, ...] = Field(("Seat 1", "Seat 2", "Seat 3", "Seat 4"), min_length=3,
                                   max_length=4)  # fmt: skip
    first_dealer: int = Field(0, ge=0, le=3)
    geometry: GeometryConfig = GeometryConfig()

    @model_validator(mode="after")
    def _dealer_sits_here(self) -> Self:
        if self.first_dealer >= len(self.seats):
            raise ValueError(f"first_dealer: seat {self.first_dealer} does not exist")
        return self

    def table_geometry(self) -> TableGeometry:
        """The measures with the number of seats."""
        return TableGeometry(**self.geometry.model_dump(), seats=len(self.seats))


class RulesConfig(_Section):
    """Which rules are played."""

    id: str = "hongkong"
    options: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _known(self) -> Self:
        try:
            get_rules(self.id).options(self.options)
        except CaseError as error:
            raise ValueError(str(error)) from None
        return self


class SerialConfig(_Section):
    """The line to the table's controller; without a port the table's machine is left alone."""

    port: str | None = None
    baud: int = Field(115_200, ge=9_600, le=2_000_000)
    board_serial: int | None = Field(None, ge=0)


class CameraConfig(_Section):
    """Where pictures come from."""

    source: str | None = None
    calibration: Path | None = None
    width: int = Field(1920, ge=320, le=7680)
    height: int = Field(1080, ge=240, le=4320)
    fps: float = Field(10.0, gt=0, le=120)
    stale_after: float = Field(2.0, gt=0, le=60)
    lost_after: float = Field(3.0, gt=0, le=120)

    @field_validator("source")
    @classmethod
    def _understood(cls, source: str | None) -> str | None:
        if source is not None:
            try:
                parse_spec(source)
            except SourceSpecError as error:
                raise ValueError(str(error)) from None
        return source


class DetectorConfig(_Section):
    """How tiles are read."""

    threads: int = Field(1, ge=1, le=16)
    weights: Path | None = None
    tile_set: Path | None = None


class RefereeConfig(_Section):
    """When the referee is sure, and when it asks."""

    sure: float = Field(0.97, gt=0.5, lt=1)
    patience: float = Field(1.5, ge=0, le=30)


class ServerConfig(_Section):
    """The one port that displays use."""

    host: str = "0.0.0.0"
    port: Port = 8765
    operator_password: SecretStr | None = None
    allowed_origins: tuple[str, ...] = ()
    certificate: Path | None = None
    key: Path | None = None

    @field_validator("allowed_origins")
    @classmethod
    def _origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            scheme, _, rest = origin.partition("://")
            if scheme not in ("http", "https") or not rest or "/" in rest:
                raise ValueError(f"{origin!r} is no origin: expected https://club.example.org")
        return origins

    @field_validator("operator_password")
    @classmethod
    def _long_enough(cls, password: SecretStr | None) -> SecretStr | None:
        if password is not None and len(password.get_secret_value()) < 6:
            raise ValueError("at least 6 characters; leave it out and one is generated")
        return password

    @model_validator(mode="after")
    def _both_or_none(self) -> Self:
        if (self.certificate is None) != (self.key is None):
            raise ValueError("certificate and key belong together")
        return self


class BrokerConfig(_Section):
    """Which MQTT broker; a private Mosquitto when no address is given."""

    url: SecretStr | None = None
    listen: str | None = None
    display_user: str | None = None
    display_password: SecretStr | None = None
    operator_user: str | None = None
    operator_password: SecretStr | None = None
    home_assistant: bool = False

    @field_validator("url")
    @classmethod
    def _address(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None:
            try:
                parse_broker_url(url.get_secret_value())
            except BrokerAddressError as error:
                raise ValueError(str(error)) from None
        return url

    @field_validator("listen")
    @classmethod
    def _listener(cls, listen: str | None) -> str | None:
        if listen is not None:
            try:
                parse_listen(listen)
            except BrokerAddressError as error:
                raise ValueError(str(error)) from None
        return listen

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.url is not None and self.listen is not None:
            raise ValueError("listen is for the private broker; with url the broker is another's")
        for role in ("display", "operator"):
            if (getattr(self, f"{role}_user") is None) != (
                getattr(self, f"{role}_password") is None
            ):
                raise ValueError(f"{role}_user and {role}_password belong together")
        return self


class RecordingConfig(_Section):
    """What is recorded."""

    enabled: bool = True
    directory: Path | None = None
    frames: bool = True
    frames_per_second: float = Field(2.0, gt=0, le=60)
    quality: int = Field(85, ge=10, le=100)


class LedgerConfig(_Section):
    """Where the scores are kept."""

    path: Path | None = None


class Config(BaseSettings):
    """Everything that can be configured."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        env_prefix=ENV_PREFIX,
        env_nested_delimiter="__",
        validate_default=True,
    )

    state_dir: Path = Field(default_factory=default_state_dir)
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    table: TableConfig = TableConfig()
    rules: RulesConfig = RulesConfig()
    serial: SerialConfig = SerialConfig()
    camera: CameraConfig = CameraConfig()
    detector: DetectorConfig = DetectorConfig()
    referee: RefereeConfig = RefereeConfig()
    server: ServerConfig = ServerConfig()
    broker: BrokerConfig = BrokerConfig()
    recording: RecordingConfig = RecordingConfig()
    ledger: LedgerConfig = LedgerConfig()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Environment before file."""
        return env_settings, init_settings

    @property
    def recording_directory(self) -> Path:
        """Folder of the recordings."""
        return self.recording.directory or self.state_dir / "sessions"

    @property
    def ledger_path(self) -> Path:
        """File of the ledger."""
        return self.ledger.path or self.state_dir / "ledger.sqlite3"

    @property
    def tile_set_path(self) -> Path:
        """File of the taught tile set; missing while none is taught."""
        return self.detector.tile_set or self.state_dir / "tiles.npz"

    def digest(self) -> str:
        """SHA-256 of everything but secrets, to tell configurations apart in recordings."""
        content = self.model_dump(mode="json")
        text = json.dumps(content, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


def example() -> str:
    """Text of the commented example."""
    return resources.files("tablectl").joinpath("config.example.toml").read_text(encoding="utf-8")


def load(path: Path | None = None) -> Config:
    """Read and check a configuration.

    Args:
        path: TOML file; only defaults and environment when None.

    Raises:
        ConfigError: unreadable, no TOML, unknown key or bad value; one line says all.
    """
    if path is None:
        return parse({}, "environment", Path.cwd())
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not TOML: {error}") from error
    return parse(content, str(path), path.resolve().parent)


def parse(content: dict[str, Any], origin: str, base: Path) -> Config:
    """Check the content of a configuration file.

    Args:
        content: as TOML gives it.
        origin: named in errors.
        base: folder that relative paths are relative to.

    Raises:
        ConfigError: unknown key or bad value.
    """
    try:
        config = Config(**content)
    except ValidationError as error:
        raise ConfigError(f"{origin}: {'; '.join(_explain(error))}") from None
    return _with_absolute_paths(config, base)


def _explain(error: ValidationError) -> Iterator[str]:
    for item in error.errors(include_url=False):
        location = [str(part) for part in item["loc"]]
        key = ".".join(location)
        if item["type"] == "extra_forbidden":
            yield f"{key}: unknown key{_suggestion(location)}"
        else:
            yield f"{key}: {item['msg'].removeprefix('Value error, ')}"


def _suggestion(location: list[str]) -> str:
    """``, did you mean ...?`` for an unknown key: in its section, else in any."""
    section: type[BaseModel] = Config
    for part in location[:-1]:
        inner = section.model_fields[part].annotation
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return ""
        section = inner
    name = location[-1]
    close = difflib.get_close_matches(name, section.model_fields, n=1, cutoff=_CUTOFF)
    if close:
        return f", did you mean {close[0]}?"
    elsewhere = [key for key in all_keys() if key.rpartition(".")[2] == name]
    if elsewhere:
        return f", did you mean {' or '.join(elsewhere)}?"
    known = ", ".join(section.model_fields)
    return f" (known here: {known})"


def all_keys(section: type[BaseModel] = Config, prefix: str = "") -> list[str]:
    """Every key with its section, ``server.port``."""
    keys: list[str] = []
    for name, field in section.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            keys += all_keys(inner, f"{prefix}{name}.")
        else:
            keys.append(prefix + name)
    return keys


def _with_absolute_paths(config: Config, base: Path) -> Config:
    changes: dict[str, Any] = {}
    camera = config.camera
    if camera.source is not None:
        spec = parse_spec(camera.source)
        if spec.kind in ("file", "folder", "recording", "feed"):
            target = _absolute(Path(spec.target), base)
            absolute = camera.model_copy(update={"source": f"{spec.kind}:{target}"})
            config = config.model_copy(update={"camera": absolute})
    for name in type(config).model_fields:
        value = getattr(config, name)
        if isinstance(value, Path):
            changes[name] = _absolute(value, base)
        elif isinstance(value, BaseModel):
            paths = {key: _absolute(inner, base) for key, inner in value if isinstance(inner, Path)}
            if paths:
                changes[name] = value.model_copy(update=paths)
    return config.model_copy(update=changes)


def _absolute(path: Path, base: Path) -> Path:
    return base / path.expanduser()
