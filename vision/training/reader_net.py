"""The tile reader: a small residual network, 43 class logits and the tile's direction."""

from __future__ import annotations

import torch
from torch import nn

CLASSES = 43
OUTPUTS = CLASSES + 1
"""Class logits: 42 faces, the back, and "no tile" for what the finder got wrong."""


def _conv(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )


class Residual(nn.Module):
    """Two 3x3 convolutions beside the identity."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = _conv(channels, channels)
        self.second = nn.Sequential(
            nn.Conv2d(channels, channels, 3, 1, 1, bias=False), nn.BatchNorm2d(channels)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(B, C, H, W) to the same shape."""
        return torch.relu(x + self.second(self.first(x)))


def _residuals(channels: int) -> nn.Sequential:
    return nn.Sequential(Residual(channels), Residual(channels))


class TileReader(nn.Module):
    """Input (B, 4, 96, 96) in 0..1, R G B and box mask.

    Output (B, 48): 44 class logits, then cos and sin of the rotation, cos and sin of twice the
    rotation (defined for faces that look alike upside down, too).
    """

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            _conv(4, 16, 2),
            _conv(16, 32, 2),
            _residuals(32),
            _conv(32, 72, 2),
            _residuals(72),
            _conv(72, 160, 2),
            _residuals(160),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
        )
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(160, OUTPUTS + 4)

    def features(self, x: torch.Tensor) -> torch.Tensor:
        """What the last layer is given (B, 160)."""
        features: torch.Tensor = self.body(x * 2 - 1)
        return features

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Raw outputs, see the class."""
        out: torch.Tensor = self.head(self.drop(self.features(x)))
        return out
