"""One file, every key documented, every mistake named in one line."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from tablectl import config as config_module
from tablectl.config import Config, ConfigError, GeometryConfig, all_keys, example, load, parse
from vision.geometry import TableGeometry


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in list(os.environ):
        if name.startswith("TABLECTL_"):
            monkeypatch.delenv(name)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "table.toml"
    path.write_text(text, encoding="utf-8")
    return path


def keys_of(
    content: dict[str, Any], section: type[BaseModel] = Config, prefix: str = ""
) -> set[str]:
    """Dotted keys of a TOML document, as far as the model has sections."""
    keys: set[str] = set()
    for name, value in content.items():
        inner = section.model_fields[name].annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            keys |= keys_of(value, inner, f"{prefix}{name}.")
        else:
            keys.add(prefix + name)
    return keys


def test_the_example_is_the_defaults(tmp_path: Path) -> None:
    assert load(write(tmp_path, example())) == load(None)


def test_the_example_documents_every_key(tmp_path: Path) -> None:
    switched_on = re.sub(r"(?m)^#(?=[a-z_]+ = )", "", example())
    content = tomllib.loads(switched_on)
    assert keys_of(content) == set(all_keys())
    content["broker"].pop("listen")
    parse(content, "example", tmp_path)


def test_every_key_of_the_example_has_a_comment_above() -> None:
    explained = False
    for line in example().splitlines():
        if line.startswith("# "):
            explained = True
        elif not line or line.startswith("["):
            explained = False
        else:
            assert explained, line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[camera]\nsorce = 'x'", "camera.sorce: unknown key, did you mean source?"),
        ("[camra]\nsource = 'x'", "camra: unknown key, did you mean camera?"),
        ("port = 3", "port: unknown key, did you mean serial.port or server.port?"),
        ("[table]\nport = 3", "table.port: unknown key, did you mean serial.port or server.port?"),
        ("[table.geometry]\nriver_colums = 3", "did you mean river_columns?"),
        ("[ledger]\nzzzzzz = 3", "known here: path"),
        ("[server]\nport = 99999", "server.port"),
        ("[server]\nport = 'x'", "server.port"),
        ("[server]\ncertificate = 'a.pem'", "certificate and key belong together"),
        ("[server]\noperator_password = 'abc'", "at least 6"),
        ("[server]\nallowed_origins = ['club.example.org']", "no origin"),
        ("[table]\nid = 'a/b'", "table.id"),
        ("[table]\nseats = ['a', 'b']", "table.seats"),
        ("[table]\nseats = ['a', 'b', 'c']\nfirst_dealer = 3", "does not exist"),
        ("[rules]\nid = 'hongkng'", "did you mean 'hongkong'"),
        ("[rules]\nid = 'hongkong'\noptions = {no_such = 1}", "no_such"),
        ("[camera]\nsource = 'webcam'", "camera source 'webcam' is not understood"),
        ("[broker]\nurl = 'http://x'", "broker"),
        ("[broker]\nlisten = '1883'", "host:port"),
        ("[broker]\ndisplay_user = 'x'", "belong together"),
        ("[broker]\nurl = 'mqtt://h'\nlisten = '0.0.0.0:1883'", "private broker"),
        ("[referee]\nsure = 0.2", "referee.sure"),
        ("camera = 3", "camera"),
        ("not toml", "not TOML"),
    ],
)
def test_mistakes_are_one_clear_line(tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as error:
        load(path)
    assert said in str(error.value)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_all_mistakes_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        load(write(tmp_path, "[server]\nprt = 1\n[table]\nseets = 2"))
    assert "server.prt" in str(error.value)
    assert "table.seets" in str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        load(tmp_path / "none.toml")


def test_environment_overrides_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLECTL_SERVER__PORT", "9000")
    config = load(write(tmp_path, "[server]\nport = 1\nhost = '127.0.0.1'"))
    assert (config.server.port, config.server.host) == (9000, "127.0.0.1")
    monkeypatch.setenv("TABLECTL_SERVER__PROT", "9000")
    with pytest.raises(ConfigError, match="did you mean port"):
        load(None)


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    text = "state_dir = 'state'\n[camera]\ncalibration = 'c.json'\n[ledger]\npath = '/var/l.db'"
    config = load(write(tmp_path, text))
    assert config.state_dir == tmp_path / "state"
    assert config.camera.calibration == tmp_path / "c.json"
    assert config.ledger_path == Path("/var/l.db")
    assert config.recording_directory == tmp_path / "state" / "sessions"
    for source, meant in [
        ("folder:pictures", f"folder:{tmp_path}/pictures"),
        ("file:/v.mp4", "file:/v.mp4"),
        ("rtsp://cam/1", "rtsp://cam/1"),
    ]:
        config = load(write(tmp_path, f"[camera]\nsource = '{source}'"))
        assert config.camera.source == meant


def test_digest_tells_configurations_apart_and_hides_secrets(tmp_path: Path) -> None:
    def digest(text: str) -> str:
        return load(write(tmp_path, text)).digest()

    assert digest("[table]\nid = 'a'") != digest("[table]\nid = 'b'")
    one = digest("[server]\noperator_password = 'secret one'")
    assert one == digest("[server]\noperator_password = 'secret two'")
    config = load(write(tmp_path, "[server]\noperator_password = 'secret one'"))
    assert "secret one" not in repr(config)


def test_geometry_has_the_keys_and_defaults_of_the_vision() -> None:
    geometry = load(None).table.table_geometry()
    assert geometry == TableGeometry()
    names = {field.name for field in dataclasses.fields(TableGeometry)} - {"seats"}
    assert set(GeometryConfig.model_fields) == names


def test_state_dir_follows_the_desktop_standard(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert config_module.default_state_dir() == tmp_path / "tablectl"
