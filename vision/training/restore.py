"""The networks' weights from their ONNX files, ready to be trained on.

The export folds every batch normalisation into its convolution. Here each gets one again, with the
statistics that some real inputs have there: the network computes the same (of an int8 file nearly
the same: its weights have 8 bits), and learns on.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn
from ultralytics.nn.tasks import DetectionModel

from .finder_net import build_finder
from .reader_net import TileReader

Folded = list[tuple[nn.Conv2d, nn.BatchNorm2d]]
"""Convolutions with the normalisation that the export folded into each."""


class RestoreError(RuntimeError):
    """The file holds another network than the one it is to be restored to."""


def restored_reader(path: Path, pixels: torch.Tensor) -> TileReader:
    """The exported reader as a network in training form.

    ``pixels`` (B, 4, H, W) in 0..1: crops as the reader sees them, some hundreds.

    Raises:
        RestoreError: the weights do not fit :class:`TileReader`.
    """
    model = TileReader()
    named = _stored(path)
    ordered = sorted(named, key=lambda name: ("head" not in name, "bias" in name, len(name), name))
    stored = [named[name] for name in ordered]
    head, folded = stored[:2], stored[2:]
    layers = [m for m in model.body.modules() if isinstance(m, nn.Conv2d | nn.BatchNorm2d)]
    pairs = list(zip(layers[::2], layers[1::2], strict=True))
    wanted = [model.head.weight, model.head.bias]
    wanted += [weight for conv, norm in pairs for weight in (conv.weight, norm.bias)]
    if [weight.shape for weight in stored] != [weight.shape for weight in wanted]:
        raise RestoreError(f"{path}: not the weights of this tile reader")
    with torch.no_grad():
        model.head.weight.copy_(head[0])
        model.head.bias.copy_(head[1])
        for (conv, norm), weight, bias in zip(pairs, folded[::2], folded[1::2], strict=True):
            _unfold(conv, norm, weight, bias)
        _normalise(model.eval(), pairs, pixels)
    return model


def restored_finder(path: Path, pixels: torch.Tensor) -> DetectionModel:
    """The exported finder as a network in training form.

    ``pixels`` (B, 3, H, W) in 0..1: windows as the finder sees them, some dozens.

    Raises:
        RestoreError: the weights do not fit the finder.
    """
    model = build_finder()
    stored = _stored(path)
    parts = {f"layers.{name}": part for name, part in model.model.named_modules()}
    pairs: Folded = []
    try:
        with torch.no_grad():
            for name in sorted({key.rpartition(".")[0] for key in stored}):
                weight, bias = stored.pop(f"{name}.weight"), stored.pop(f"{name}.bias")
                norm = parts.get(name.removesuffix(".conv") + ".bn")
                if name.endswith(".conv") and isinstance(norm, nn.BatchNorm2d):
                    _unfold(parts[name], norm, weight, bias)
                    pairs.append((parts[name], norm))
                else:
                    parts[name].weight.copy_(weight)
                    parts[name].bias.copy_(bias)
            _normalise(model.eval(), pairs, pixels)
    except (KeyError, AttributeError, RuntimeError) as error:
        raise RestoreError(f"{path}: not the weights of this tile finder ({error})") from error
    if len(pairs) != sum(isinstance(part, nn.BatchNorm2d) for part in parts.values()):
        raise RestoreError(f"{path}: not all the weights of this tile finder")
    return model


def _stored(path: Path) -> dict[str, torch.Tensor]:
    """Weights by name; those of an int8 file as what they stand for."""
    arrays = {item.name: numpy_helper.to_array(item) for item in onnx.load(path).graph.initializer}
    weights = {}
    for name, array in arrays.items():
        plain = name.removesuffix("_quantized")
        if name.startswith("/") or name.endswith(("_scale", "_zero_point")):
            continue  # of activations, or belongs to a weight
        scale = np.ones(1)
        if plain != name:
            scale = arrays.get(f"{name}_scale", arrays.get(f"{plain}_scale"))
        value = array * scale.reshape(-1, *[1] * (array.ndim - 1))
        weights[plain] = torch.from_numpy(value.astype(np.float32))
    return weights


def _unfold(
    conv: nn.Conv2d, norm: nn.BatchNorm2d, weight: torch.Tensor, bias: torch.Tensor
) -> None:
    """Give both layers values with which they compute what the folded convolution did."""
    conv.weight.copy_(weight)
    norm.weight.fill_(1.0)
    norm.bias.copy_(bias)
    norm.running_mean.zero_()
    norm.running_var.fill_(1 - norm.eps)


def _normalise(model: nn.Module, pairs: Folded, pixels: torch.Tensor) -> None:
    """Give every normalisation the statistics of ``pixels`` there, its output unchanged."""
    seen: dict[nn.Module, tuple[torch.Tensor, torch.Tensor]] = {}

    def watch(layer: nn.Module, _: object, out: torch.Tensor) -> None:
        seen[layer] = out.mean(dim=(0, 2, 3)), out.var(dim=(0, 2, 3))

    hooks = [conv.register_forward_hook(watch) for conv, _ in pairs]
    model(pixels)
    for hook in hooks:
        hook.remove()
    for conv, norm in pairs:
        mean, variance = seen[conv]
        norm.running_mean.copy_(mean)
        norm.running_var.copy_(variance)
        norm.weight.copy_((variance + norm.eps).sqrt())
        norm.bias.add_(mean)
