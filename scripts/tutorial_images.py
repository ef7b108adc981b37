#!/usr/bin/env python3
"""Makes the pictures of docs/tutorial.md.

usage: tutorial_images.py [--plugin FILE] [--out FOLDER] [--work FOLDER] [--only drawings]

Two schedules drawn as boxes, the pages of `anderson2021-explain` for them (these need chromium),
and a photograph before and after the blur, computed through OpenCL on the CPU.
`make tutorial-images` does all.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "test" / "integration"),
                str(ROOT / "apps" / "support")]

import app_images  # noqa: E402
import draw_schedule  # noqa: E402
import photo  # noqa: E402
from PIL import Image, ImageChops  # noqa: E402
from toolchain import DEFAULT_PLUGIN, Toolchain, run  # noqa: E402

PROJECT = ROOT / "docs" / "examples" / "tutorial"
OPENCL = "host-opencl"
# What the tutorial says to type, and the titles of the drawings.
OPTIONS = {"gpu": "rtx3080", "weights_path": ROOT / "weights" / "gpu.weights"}
SEARCHES = {
    "root": ({"search_space_options": "0001"}, "every Func at the root"),
    "best": ({}, "the whole search"),
}
# Width of a page, and the parts of pages that are shown: name, height.
PAGE_WIDTH = 1180
PAGES = {"explain": 900, "compare": 1000}


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--plugin", type=lambda p: Path(p).resolve(), default=DEFAULT_PLUGIN)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "tutorial")
    parser.add_argument("--work", type=lambda p: Path(p).resolve(),
                        default=ROOT / "build" / "tutorial-images")
    parser.add_argument("--only", choices=("drawings",), help="leave out pages and photograph")
    return parser.parse_args()


def search(tools: Toolchain, program: Path, name: str, folder: Path) -> None:
    """Leaves <name>.0.tree and <name>.record."""
    options, _ = SEARCHES[name]
    tools.emit(program, "soft_blur", "soft_blur_auto", "host-cuda", folder, outputs="schedule",
               options={**OPTIONS, **options, "top_k_path": folder / name}).require_success()
    tools.emit(program, "soft_blur", "soft_blur_auto", "host-cuda", folder, outputs="schedule",
               options={**OPTIONS, **options, "record_path": folder / f"{name}.record"},
               ).require_success()


def drawings(folder: Path, out: Path) -> None:
    """The trees as SVG."""
    for name, (_, title) in SEARCHES.items():
        tree = draw_schedule.parse((folder / f"{name}.0.tree").read_text())
        (out / f"{name}.svg").write_text(draw_schedule.draw(tree, title))


def pages(folder: Path, out: Path) -> None:
    """Screenshots of the pages."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise FileNotFoundError("chromium is not installed")
    for name, height in PAGES.items():
        explain = [sys.executable, ROOT / "scripts" / "anderson2021-explain"]
        records = [folder / "best.record"] if name == "explain" else \
            [folder / "root.record", "--compare", folder / "best.record"]
        page, shot = folder / f"{name}.html", folder / f"{name}.png"
        run([*explain, *records, "--html", page, "--quiet"]).require_success()
        subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu",
                        "--hide-scrollbars", f"--window-size={PAGE_WIDTH},{height}",
                        f"--screenshot={shot}",
                        page.as_uri()], check=True, capture_output=True, timeout=120)
        picture = Image.open(shot).convert("RGB")
        edges = ImageChops.difference(picture, Image.new("RGB", picture.size,
                                                         picture.getpixel((0, 0)))).getbbox()
        picture.crop((0, 0, PAGE_WIDTH, edges[3] if edges else height)).quantize(64).save(
            out / f"{name}.png", optimize=True)


def photograph(tools: Toolchain, program: Path, folder: Path, out: Path) -> None:
    """Before and after."""
    tools.emit(program, "soft_blur", "soft_blur", OPENCL, folder,
               options=OPTIONS).require_success()
    source = PROJECT / "run_soft_blur.cpp"
    run_blur = tools.compile(folder / "run_soft_blur", [],
                             ["-O1", f"-I{folder}", source, folder / "soft_blur.a",
                              tools.runtime(OPENCL), "-ldl", "-lpthread"])
    photo.write_ppm(photo.photograph(1), folder / "photo.ppm")
    tools.run_filter(run_blur, folder / "photo.ppm", folder / "out.pgm").require_success()
    app_images.save_small(
        app_images.side_by_side([Image.open(folder / "photo.ppm").convert("L"),
                                 Image.open(folder / "out.pgm")]), out / "photo.jpg")


def main() -> int:
    """Writes all pictures."""
    args = arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    tools = Toolchain(work=args.work, plugin=args.plugin)
    program = tools.compile_generator(args.work / "soft_blur.generator",
                                      [PROJECT / "soft_blur_generator.cpp"])
    for name in SEARCHES:
        search(tools, program, name, args.work)
    drawings(args.work, args.out)
    if args.only != "drawings":
        pages(args.work, args.out)
        photograph(tools, program, args.work, args.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
