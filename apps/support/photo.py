#!/usr/bin/env python3
"""Writes the photograph that the applications work on as a binary PPM file.

usage: photo.py FILE.ppm [SCALE]

The picture is the portrait of the astronaut Eileen Collins by NASA. It is in the public domain
and comes with scikit-image (skimage/data/astronaut.png, see skimage.data.astronaut), 512x512
pixels. SCALE enlarges it by a whole number (default 3).
"""

import os
import sys
from importlib import util
from pathlib import Path

from PIL import Image


def photograph(scale: int = 3) -> Image.Image:
    """The photograph in RGB, `scale` times its own size."""
    package = util.find_spec("skimage")
    if package is None or package.origin is None:
        raise FileNotFoundError("scikit-image is not installed; see requirements.txt")
    path = Path(package.origin).parent / "data" / "astronaut.png"
    if not path.exists():
        raise FileNotFoundError(f"{path}: not part of this version of scikit-image")
    picture = Image.open(path).convert("RGB")
    return picture.resize((picture.width * scale, picture.height * scale), Image.LANCZOS)


def write_ppm(picture: Image.Image, path: Path) -> None:
    """Writes the file as a whole or not at all, so that parallel builds never see half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    picture.save(partial, format="PPM")
    os.replace(partial, path)


def main(arguments: list[str]) -> int:
    if len(arguments) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    scale = int(arguments[2]) if len(arguments) == 3 else 3
    write_ppm(photograph(scale), Path(arguments[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
