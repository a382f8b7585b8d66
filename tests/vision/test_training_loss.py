"""The parts of training that need torch; skipped where the train extra is not installed."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")
pytest.importorskip("ultralytics", reason="needs the train extra")
os.environ.setdefault("YOLO_OFFLINE", "true")

# By name, so that the type checker does not ask for torch where it is not installed.
nets = importlib.import_module("vision.training.reader_net")
finder = importlib.import_module("vision.training.train_detector")
loop = importlib.import_module("vision.training.loop")
export = importlib.import_module("vision.training.export")
quantize = importlib.import_module("vision.training.quantize")
restore = importlib.import_module("vision.training.restore")
nets_finder = importlib.import_module("vision.training.finder_net")


def batch(ignore: bool) -> dict[str, Any]:
    torch.manual_seed(0)
    mask = torch.zeros(1, 12, 12, dtype=torch.bool)
    if ignore:
        mask[:, 6:, :] = True
    return {
        "img": torch.rand(1, 3, 96, 96),
        "bboxes": torch.tensor([[0.25, 0.25, 0.3, 0.4]]),
        "batch_idx": torch.zeros(1),
        "cls": torch.zeros(1),
        "ignore": mask,
    }


def test_finds_in_ignored_areas_cost_nothing() -> None:
    torch.manual_seed(1)
    model = nets_finder.build_finder().train()
    loss_of = finder.PartialLabelLoss(model)
    whole, masked = batch(False), batch(True)
    preds = model(whole["img"])
    all_cells = float(loss_of.forward_batch(preds, whole).detach())
    fewer = float(loss_of.forward_batch(preds, masked).detach())
    assert fewer < all_cells
    # A strong find in the ignored half changes the unmasked loss only.
    preds["scores"] = preds["scores"].detach().clone()
    preds["scores"][:, :, 12 * 10 + 3] = 8.0
    assert float(loss_of.forward_batch(preds, whole).detach()) > all_cells + 0.5
    assert float(loss_of.forward_batch(preds, masked).detach()) == pytest.approx(fewer, abs=1e-3)


def test_finder_has_grids_of_8_and_16() -> None:
    assert nets_finder.build_finder().stride.tolist() == [8.0, 16.0]


def exported_reader(folder: Path) -> Path:
    """A fresh reader whose normalisations have seen some crops, exported as float."""
    torch.manual_seed(2)
    model = nets.TileReader().train()
    with torch.no_grad():
        for _ in range(20):
            model(torch.rand(32, 4, 96, 96))
    optimizer = torch.optim.AdamW(model.parameters())
    average = loop.Average(model)
    loop.save(folder, 1, model, average, optimizer)
    export.export_reader(folder / loop.CHECKPOINT, folder / "tile_reader.onnx")
    return folder / "tile_reader.onnx"


def noise(count: int) -> npt.NDArray[np.uint8]:
    return np.random.default_rng(3).integers(0, 256, (count, 4, 96, 96), np.uint8)


def outputs(path: Path, name: str, value: npt.NDArray[np.uint8]) -> list[npt.NDArray[Any]]:
    grids: list[npt.NDArray[Any]] = onnxruntime.InferenceSession(str(path)).run(None, {name: value})
    return grids


def test_an_exported_reader_is_restored_to_go_on_learning(tmp_path: Path) -> None:
    """Same outputs as onnxruntime's, now with normalisations that fit their inputs."""
    path, crops = exported_reader(tmp_path), noise(32)
    pixels = torch.from_numpy(crops).float() / 255
    model = restore.restored_reader(path, pixels)
    with torch.no_grad():
        before = model.eval()(pixels)
        learning = model.train().body(pixels * 2 - 1)
        settled = model.eval().body(pixels * 2 - 1)
    assert np.abs(before.numpy() - outputs(path, "crops", crops)[0]).max() < 1e-3
    assert (learning - settled).abs().max() < 0.1 * settled.abs().max()


def test_an_exported_finder_is_restored_to_go_on_learning(tmp_path: Path) -> None:
    """Same logits as onnxruntime's in every cell of both grids."""
    torch.manual_seed(2)
    fresh = nets_finder.build_finder().train()
    with torch.no_grad():  # the exporter would merge weights that are equal
        fresh(torch.rand(4, 3, 96, 96))
        for weight in fresh.parameters():
            weight.add_(0.01 * torch.randn_like(weight))
    torch.save({"average": fresh.state_dict()}, tmp_path / "last.pt")
    path = tmp_path / "tile_finder.onnx"
    export.export_finder(tmp_path / "last.pt", path)
    picture = np.random.default_rng(4).integers(0, 256, (1, 96, 128, 3), np.uint8)
    pixels = torch.from_numpy(picture[..., ::-1].copy()).permute(0, 3, 1, 2).float() / 255
    model = restore.restored_finder(path, pixels)
    with torch.no_grad():
        again = export.DeployedFinder(model.eval())(torch.from_numpy(picture))
    for grid, other in zip(outputs(path, "image", picture), again, strict=True):
        assert np.abs(grid - other.numpy()).max() < 2e-3


def test_an_int8_reader_answers_alike_and_is_restored(tmp_path: Path) -> None:
    path, crops = exported_reader(tmp_path), noise(64)
    small = tmp_path / "int8.onnx"
    quantize.quantised(path, small, quantize.Inputs("crops", [crops[:32], crops[32:]]))
    assert small.stat().st_size < 0.4 * path.stat().st_size
    wanted = outputs(path, "crops", crops)[0]
    spread = wanted.std()
    assert np.abs(outputs(small, "crops", crops)[0] - wanted).mean() < 0.1 * spread
    model = restore.restored_reader(small, torch.from_numpy(crops).float() / 255)
    with torch.no_grad():
        again = model.eval()(torch.from_numpy(crops).float() / 255).numpy()
    assert np.abs(again - wanted).mean() < 0.1 * spread


def test_the_shipped_networks_are_int8_and_can_be_trained_on() -> None:
    models = Path(__file__).parents[2] / "models"
    assert sum(path.stat().st_size for path in models.glob("*.onnx")) < 4e6
    restore.restored_reader(models / "tile_reader.onnx", torch.zeros(2, 4, 96, 96))
    restore.restored_finder(models / "tile_finder.onnx", torch.zeros(2, 3, 96, 96))


def test_another_network_is_not_restored() -> None:
    models = Path(__file__).parents[2] / "models"
    with pytest.raises(restore.RestoreError, match="tile_finder"):
        restore.restored_reader(models / "tile_finder.onnx", torch.zeros(2, 4, 96, 96))
    with pytest.raises(restore.RestoreError, match="tile_reader"):
        restore.restored_finder(models / "tile_reader.onnx", torch.zeros(2, 3, 96, 96))


def test_schedule_warms_up_and_ends_low() -> None:
    rates = [loop.learning_rate(step, 1000, 1e-3, 1e-5) for step in range(1000)]
    assert rates[0] < rates[50] < rates[99]
    assert max(rates) <= 1e-3
    assert rates[-1] == pytest.approx(1e-5, rel=0.1)
    assert np.all(np.diff(rates[100:]) <= 0)


def test_checkpoints_are_replaced_whole_and_resumed(tmp_path: Path) -> None:
    model = nets.TileReader()
    average, optimizer = loop.Average(model), torch.optim.AdamW(model.parameters())
    for step in (1, 2):
        with torch.no_grad():
            model.head.bias.fill_(float(step))
        loop.save(tmp_path, step, model, average, optimizer)
    assert [p.name for p in tmp_path.iterdir()] == [loop.CHECKPOINT]
    other = nets.TileReader()
    again = torch.optim.AdamW(other.parameters())
    assert loop.resumed(tmp_path, other, loop.Average(other), again) == 2
    assert torch.equal(other.head.bias, model.head.bias)


def test_a_resumed_curve_goes_on_where_the_checkpoint_was(tmp_path: Path) -> None:
    curve = loop.Curve(tmp_path, ("loss",), 0)
    for step in (50, 100, 150):
        curve.add(step, 1e-3, torch.tensor([step / 100]))
    again = loop.Curve(tmp_path, ("loss",), 100)
    assert again.add(150, 5e-4, torch.tensor([0.25])) == "loss 0.250"
    rows = (tmp_path / loop.CURVE).read_text().split()
    assert rows == [
        "step,rate,loss", "50,1.000e-03,0.5000", "100,1.000e-03,1.0000", "150,5.000e-04,0.2500",
    ]  # fmt: skip
