"""The tile reader's weights from ``tile_reader.onnx``, ready to be trained on.

The export folds every batch normalisation into its convolution. Here each gets one again, with the
statistics that some real crops have there: the network computes the same, and learns on.
"""

from __future__ import annotations

from pathlib import Path

import onnx
import torch
from onnx import numpy_helper
from torch import nn

from .reader_net import TileReader


class RestoreError(RuntimeError):
    """The file holds another network than :class:`TileReader`."""


def restored(path: Path, pixels: torch.Tensor) -> TileReader:
    """The exported reader as a network in training form.

    ``pixels`` (B, 4, H, W) in 0..1: crops as the reader sees them, some hundreds.

    Raises:
        RestoreError: the weights do not fit :class:`TileReader`.
    """
    model = TileReader()
    stored = [
        torch.from_numpy(numpy_helper.to_array(item).copy())
        for item in onnx.load(path).graph.initializer
    ]
    head, folded = stored[:2], stored[2:]
    pairs = _convolutions(model)
    wanted = [model.head.weight, model.head.bias]
    wanted += [weight for conv, norm in pairs for weight in (conv.weight, norm.bias)]
    if [weight.shape for weight in stored] != [weight.shape for weight in wanted]:
        raise RestoreError(f"{path}: not the weights of this tile reader")
    with torch.no_grad():
        model.head.weight.copy_(head[0])
        model.head.bias.copy_(head[1])
        for (conv, norm), weight, bias in zip(pairs, folded[::2], folded[1::2], strict=True):
            conv.weight.copy_(weight)
            norm.bias.copy_(bias)
            norm.running_var.fill_(1 - norm.eps)
        _normalise(model.eval(), pairs, pixels)
    return model


def _convolutions(model: TileReader) -> list[tuple[nn.Conv2d, nn.BatchNorm2d]]:
    """Each convolution with the normalisation after it, in the order of the export."""
    layers = [m for m in model.body.modules() if isinstance(m, nn.Conv2d | nn.BatchNorm2d)]
    return list(zip(layers[::2], layers[1::2], strict=True))


def _normalise(
    model: TileReader, pairs: list[tuple[nn.Conv2d, nn.BatchNorm2d]], pixels: torch.Tensor
) -> None:
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
