"""Reading the felt: from detections in regions to a lasting map of the tiles that lie there."""

from vision.felt.reader import FeltOptions, FeltReader

__all__ = ["FeltOptions", "FeltReader"]
