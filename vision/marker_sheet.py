"""The printable sheet with the four calibration markers, as PDF, SVG or PNG (A4 at 100 %)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from vision.calibration import CalibrationError
from vision.geometry import TableGeometry

PAGE_MM: Final = (210.0, 297.0)
_DPI: Final = 300
_MODULES: Final = 6
_PLACES: Final = (
    "0 top left (between seats 3 and 4)",
    "1 top right (between seats 2 and 3)",
    "2 bottom right (between seats 1 and 2)",
    "3 bottom left (between seats 1 and 4)",
)

Rectangle = tuple[float, float, float, float]
"""x, y, width, height in mm from the page's top left."""


def write_sheet(path: Path, geometry: TableGeometry) -> None:
    """Write the sheet in the format of the file's ending.

    Raises:
        CalibrationError: an ending other than .pdf, .svg or .png, or the file can't be written.
    """
    suffix = path.suffix.lower()
    if suffix not in (".pdf", ".svg", ".png"):
        raise CalibrationError(f"{path}: a sheet is written as .pdf, .svg or .png")
    try:
        if suffix == ".svg":
            path.write_text(sheet_svg(geometry))
        elif suffix == ".pdf":
            path.write_bytes(sheet_pdf(geometry))
        else:
            ok, data = cv2.imencode(".png", sheet_picture(geometry))
            if not ok:
                raise CalibrationError(f"{path} can't be encoded")
            path.write_bytes(data.tobytes())
    except OSError as error:
        raise CalibrationError(f"{path} can't be written: {error.strerror}") from None


def sheet_svg(geometry: TableGeometry) -> str:
    """The sheet as SVG text."""
    width, height = PAGE_MM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}mm" height="{height}mm" '
        f'viewBox="0 0 {width} {height}">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for x, y, w, h in _cuts(geometry):
        parts.append(
            f'<rect x="{x:.3f}" y="{y:.3f}" width="{w:.3f}" height="{h:.3f}" fill="none" '
            'stroke="#999" stroke-width="0.2" stroke-dasharray="2 2"/>'
        )
    for x, y, w, h in _ink(geometry):
        # A hair wider than the module, so that no white seams show between neighbours.
        parts.append(
            f'<rect x="{x:.3f}" y="{y:.3f}" width="{w + 0.02:.3f}" height="{h + 0.02:.3f}"/>'
        )
    for x, y, text in _texts(geometry):
        parts.append(
            f'<text x="{x:.2f}" y="{y:.2f}" font-family="sans-serif" font-size="4">{text}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def sheet_pdf(geometry: TableGeometry) -> bytes:
    """The sheet as a PDF of one page, whose viewers print it at its size (PDF 1.4)."""
    unit = 72 / 25.4
    width, height = (side * unit for side in PAGE_MM)
    drawn = [f"{unit:.6f} 0 0 {-unit:.6f} 0 {height:.3f} cm", "0.6 G 0.2 w [2 2] 0 d"]
    drawn += [f"{x:.3f} {y:.3f} {w:.3f} {h:.3f} re S" for x, y, w, h in _cuts(geometry)]
    drawn.append("0 g")
    for x, y, w, h in _ink(geometry):
        drawn.append(f"{x:.3f} {y:.3f} {w + 0.02:.3f} {h + 0.02:.3f} re f")
    for x, y, text in _texts(geometry):
        escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        # The page's y runs down; letters must not be mirrored with it.
        drawn.append(f"BT /F1 4 Tf 1 0 0 -1 {x:.2f} {y:.2f} Tm ({escaped}) Tj ET")
    content = "\n".join(drawn).encode("ascii")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /PrintScaling /None >> >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %.3f %.3f] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>" % (width, height),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    return _pdf_file(objects)


def _pdf_file(objects: list[bytes]) -> bytes:
    """Numbered objects with the table of where each begins; the first is the catalogue."""
    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1, start,
    )  # fmt: skip
    return bytes(out)


def sheet_picture(geometry: TableGeometry) -> np.ndarray:
    """The sheet as a grey picture at 300 dpi."""
    scale = _DPI / 25.4
    width, height = (round(side * scale) for side in PAGE_MM)
    page = np.full((height, width), 255, np.uint8)
    for x, y, w, h in _cuts(geometry):
        corners = np.array([(x, y), (x + w, y), (x + w, y + h), (x, y + h)]) * scale
        cv2.polylines(page, [corners.astype(np.int32)], True, 180, 1)
    for x, y, w, h in _ink(geometry):
        x1, y1, x2, y2 = (round(v * scale) for v in (x, y, x + w, y + h))
        page[y1:y2, x1:x2] = 0
    for x, y, text in _texts(geometry):
        at = (round(x * scale), round(y * scale))
        cv2.putText(page, text, at, cv2.FONT_HERSHEY_SIMPLEX, 1.1, 0, 2, cv2.LINE_AA)
    return page


def _origins(geometry: TableGeometry) -> Iterator[tuple[int, float, float]]:
    """Each marker with the top left of its black square."""
    size = geometry.marker_size_mm
    for marker in range(4):
        yield marker, 40 + (marker % 2) * 75, 40 + (marker // 2) * (size + 50)


def _cuts(geometry: TableGeometry) -> Iterator[Rectangle]:
    """Where to cut: the white border is part of the marker."""
    margin = geometry.marker_size_mm / _MODULES
    side = geometry.marker_size_mm + 2 * margin
    for _, x, y in _origins(geometry):
        yield x - margin, y - margin, side, side


def _ink(geometry: TableGeometry) -> Iterator[Rectangle]:
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    module = geometry.marker_size_mm / _MODULES
    for marker, x, y in _origins(geometry):
        bits = cv2.aruco.generateImageMarker(dictionary, marker, _MODULES)
        for (row, column), bit in np.ndenumerate(bits):
            if not bit:
                yield x + column * module, y + row * module, module, module
    yield 40, 230, 100, 0.5


def _texts(geometry: TableGeometry) -> Iterator[tuple[float, float, str]]:
    size, inset = geometry.marker_size_mm, geometry.marker_inset_mm
    for marker, x, y in _origins(geometry):
        yield x - 8, y + size + 14, _PLACES[marker]
    yield 40, 236, "this line is 100 mm: print at 100 %, not fitted to the page"
    yield 40, 243, f"black squares {size:g} mm; cut along the dashes, keep the white border"
    yield 40, 250, f"middle of each marker {inset:g} mm from both edges of the felt,"
    yield 40, 256, "all upright for the player of seat 1 (bottom)"
