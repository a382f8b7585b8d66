"""The parts of training that need torch; skipped where the train extra is not installed."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")
pytest.importorskip("ultralytics", reason="needs the train extra")
os.environ.setdefault("YOLO_OFFLINE", "true")

# By name, so that the type checker does not ask for torch where it is not installed.
nets = importlib.import_module("vision.training.reader_net")
finder = importlib.import_module("vision.training.train_detector")
loop = importlib.import_module("vision.training.loop")
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


def test_older_reader_gains_an_output_that_is_never_chosen() -> None:
    reader = nets.TileReader().eval()
    state = reader.state_dict()
    old = dict(state)
    keep = [i for i in range(nets.OUTPUTS + 4) if i != nets.OUTPUTS - 1]
    old["head.weight"], old["head.bias"] = state["head.weight"][keep], state["head.bias"][keep]
    grown = nets.with_no_tile(old)
    assert grown["head.weight"].shape == state["head.weight"].shape
    assert float(grown["head.bias"][nets.OUTPUTS - 1]) < -5
    assert torch.equal(grown["head.weight"][nets.OUTPUTS :], state["head.weight"][nets.OUTPUTS :])


def test_an_exported_reader_is_restored_to_go_on_learning() -> None:
    """Same outputs as onnxruntime's, now with normalisations that fit their inputs."""
    restore = importlib.import_module("vision.training.restore")
    path = Path(__file__).parents[2] / "models" / "tile_reader.onnx"
    session = onnxruntime.InferenceSession(str(path))
    side = session.get_inputs()[0].shape[3]
    crops = np.random.default_rng(3).integers(0, 256, (32, 4, side, side), np.uint8)
    pixels = torch.from_numpy(crops).float() / 255
    model = restore.restored_reader(path, pixels)
    with torch.no_grad():
        before = model.eval()(pixels)
        learning = model.train().body(pixels * 2 - 1)
        settled = model.eval().body(pixels * 2 - 1)
    assert np.abs(before.numpy() - session.run(None, {"crops": crops})[0]).max() < 1e-3
    assert (learning - settled).abs().max() < 0.1 * settled.abs().max()


def test_an_exported_finder_is_restored_to_go_on_learning() -> None:
    """Same logits as onnxruntime's in every cell of both grids."""
    restore = importlib.import_module("vision.training.restore")
    export = importlib.import_module("vision.training.export")
    path = Path(__file__).parents[2] / "models" / "tile_finder.onnx"
    picture = np.random.default_rng(4).integers(0, 256, (1, 96, 128, 3), np.uint8)
    pixels = torch.from_numpy(picture[..., ::-1].copy()).permute(0, 3, 1, 2).float() / 255
    model = restore.restored_finder(path, pixels)
    grids = onnxruntime.InferenceSession(str(path)).run(None, {"image": picture})
    with torch.no_grad():
        again = export.DeployedFinder(model.eval())(torch.from_numpy(picture))
    for grid, other in zip(grids, again, strict=True):
        assert np.abs(grid - other.numpy()).max() < 2e-3


def test_another_network_is_not_restored() -> None:
    restore = importlib.import_module("vision.training.restore")
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
