#!/usr/bin/env python3
"""Makes the pictures of docs/apps: input and output of every application, and its schedule drawn.

usage: app_images.py [APP ...] [--plugin FILE] [--trees FOLDER] [--out FOLDER] [--work FOLDER]

Every application is autoscheduled at a moderate size, run through OpenCL on the CPU on a
photograph, and checked against the CPU. The drawing shows the schedule for the estimated size (for
long pipelines of a shorter version): it is taken from --trees (<app>/ours.tree, as `make
bench-apps` leaves them in build/bench-apps/static) or searched for. `make app-images` does all.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Optional

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "test" / "integration"),
                str(ROOT / "apps" / "support")]

import draw_schedule  # noqa: E402
import photo  # noqa: E402
from applications import APPS  # noqa: E402
from PIL import Image, ImageDraw  # noqa: E402
from toolchain import DEFAULT_PLUGIN, App, Toolchain  # noqa: E402

# Of the run, and of one picture in the documents.
SIZE, THUMBNAIL = 256, 256
OPENCL = "host-opencl"
MOST_BYTES = 60_000

# The versions for tests would not show what these do.
CHANGED = {
    "interpolate": {"levels": 7},
    "local_laplacian": {"pyramid_levels": 5},
    "nl_means": {"patch": 5, "search": 7},
}

CAPTIONS = {
    "harris": "corners found in the photograph",
    "unsharp": "sharpened",
    "hist": "histogram equalised",
    "stencil_chain": "blurred again and again",
    "max_filter": "maximum over a disc",
    "iir_blur": "recursive blur",
    "bilateral_grid": "smooth inside, sharp at edges",
    "nl_means": "noise removed",
    "interpolate": "transparent parts filled",
    "camera_pipe": "raw data of a sensor developed",
    "local_laplacian": "detail enhanced",
    "lens_blur": "refocused by depth, from a pair",
    "bgu": "an edit of the small picture, applied to the large one",
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("apps", nargs="*", help="default: all")
    parser.add_argument("--plugin", type=lambda p: Path(p).resolve(), default=DEFAULT_PLUGIN)
    parser.add_argument("--trees", type=Path)
    parser.add_argument("--part", choices=("pictures", "drawings", "both"), default="both")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "apps")
    parser.add_argument("--work", type=lambda p: Path(p).resolve(),
                        default=ROOT / "build" / "app-images")
    return parser.parse_args()


def makes_picture(app: App) -> bool:
    return "width=96" in app.small


def picture_parameters(app: App) -> list[str]:
    """The version of an app that the tests use, but for a larger picture."""
    changed = {"width": SIZE, "height": SIZE, **CHANGED.get(app.name, {})}
    words = [word.split("=") for word in app.small]
    return [f"{name}={changed.get(name, value)}" for name, value in words]


def run_app(tools: Toolchain, app: App, folder: Path) -> Path:
    """Runs the app on the photograph; returns the folder with its pictures."""
    parameters = picture_parameters(app)
    auto = tools.autoschedule(app, folder, OPENCL, parameters=parameters, timeout=1200)
    auto.require_success()
    fixed = tools.fixed_variants(app, OPENCL, parameters)
    program = tools.filter_program(app, auto, fixed, OPENCL)
    source = folder / "photo.ppm"
    photo.write_ppm(photo.photograph(1), source)
    tools.run_filter(program, "--variants", "auto", "--input", source, "--output", folder,
                     timeout=1200).require_success()
    return folder


def input_pictures(app: App, folder: Path) -> list[Path]:
    """What went in: the pictures that the app wrote about it, else the photograph."""
    found = sorted(p for p in folder.glob(f"{app.name}_*.png"))
    return found or [folder / "photo.ppm"]


def side_by_side(pictures: list[Image.Image]) -> Image.Image:
    """The pictures in a row, at equal height, with arrows between input and output."""
    small = [p.convert("RGB").resize((round(p.width * THUMBNAIL / p.height), THUMBNAIL),
                                     Image.LANCZOS) for p in pictures]
    gap = 24
    sheet = Image.new("RGB", (sum(p.width for p in small) + gap * (len(small) - 1), THUMBNAIL),
                      "white")
    x = 0
    for i, picture in enumerate(small):
        sheet.paste(picture, (x, 0))
        x += picture.width
        if i == len(small) - 2:
            middle = THUMBNAIL // 2
            ImageDraw.Draw(sheet).polygon(
                [(x + 6, middle - 9), (x + 6, middle + 9), (x + gap - 5, middle)], fill="#555555")
        x += gap
    return sheet


def save_small(picture: Image.Image, path: Path) -> None:
    """As JPEG, as good as the limit of the size allows."""
    for quality in (85, 75, 60, 45, 30, 15):
        picture.save(path, quality=quality, optimize=True)
        if path.stat().st_size <= MOST_BYTES:
            return
    raise ValueError(f"{path} does not get smaller than {MOST_BYTES} bytes")


def schedule_tree(tools: Toolchain, app: App, trees: Optional[Path], folder: Path) -> str:
    """The tree of the schedule at the usual size."""
    if trees is not None and (trees / app.name / "ours.tree").exists():
        return (trees / app.name / "ours.tree").read_text()
    prefix = folder / "usual" / "tree"
    options = {"beam_size": 32, "top_k": 1, "top_k_path": prefix}
    prefix.parent.mkdir(parents=True, exist_ok=True)
    tools.autoschedule(app, prefix.parent, "host-cuda-cuda_capability_70", options=options,
                       parameters=app.usual, outputs="schedule,c_header",
                       timeout=1800).require_success()
    return Path(f"{prefix}.0.tree").read_text()


def title(app: App) -> str:
    return app.name + (f" ({' '.join(app.usual)})" if app.usual else "")


def make(tools: Toolchain, app: App, args: argparse.Namespace) -> None:
    """Writes <app>.jpg, if the app makes a picture, and <app>.svg."""
    folder = args.work / "runs" / app.name
    folder.mkdir(parents=True, exist_ok=True)
    if args.part != "pictures":
        tree = draw_schedule.parse(schedule_tree(tools, app, args.trees, folder))
        (args.out / f"{app.name}.svg").write_text(draw_schedule.draw(tree, title(app)))
    if args.part != "drawings" and makes_picture(app):
        run_app(tools, app, folder)
        pictures = [*input_pictures(app, folder), folder / f"{app.name}.png"]
        save_small(side_by_side([Image.open(p) for p in pictures]), args.out / f"{app.name}.jpg")


def index(out: Path) -> str:
    """The page that shows all pictures there are."""
    lines = [
        "# The applications in pictures", "",
        "Input and output of every application that works on pictures, and the schedule that the "
        "plugin chose, drawn as", "nested boxes. Written by `make app-images`; what the "
        "applications do is told in [apps/README.md](../../apps/README.md).", "",
        f"* The pictures were computed by automatic schedules of a small version "
        f"({SIZE} × {SIZE} pixels) through OpenCL on the", "  CPU, and agree with the CPU's.",
        "* The drawings show the schedules for the estimated sizes, with the built-in weights. "
        "Blue:", "  kernels and their blocks; green: threads; yellow: "
        "serial loops; white: the point that is computed. Long", "  pipelines are drawn in the "
        "shortened version that the heading names.",
        "* The photograph shows the astronaut Eileen Collins and was taken by NASA; it is in the "
        "public domain.", "",
    ]
    for app in sorted(APPS, key=lambda a: a.name):
        if not (out / f"{app.name}.svg").exists():
            continue
        lines += [f"## {app.name}", ""]
        if (out / f"{app.name}.jpg").exists():
            caption = CAPTIONS.get(app.name, "input and output")
            lines += [f"![{app.name}: {caption}]({app.name}.jpg)", "", f"Left the input, right: "
                      f"{caption}.", ""]
        elif not makes_picture(app):
            lines += ["Works on numbers that are no picture.", ""]
        lines += [f"![the schedule of {app.name}]({app.name}.svg)", ""]
    return "\n".join(lines)


def main() -> int:
    args = arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    tools = Toolchain(work=args.work, plugin=args.plugin)
    errors = {}
    for app in APPS:
        if args.apps and app.name not in args.apps:
            continue
        try:
            make(tools, app, args)
            print(f"{app.name}: done", flush=True)
        except (RuntimeError, OSError, ValueError) as error:
            errors[app.name] = str(error)[-2000:]
            print(f"{app.name}: {errors[app.name]}", file=sys.stderr, flush=True)
    (args.out / "README.md").write_text(index(args.out))
    if errors:
        (args.work / "errors.json").write_text(json.dumps(errors, indent=1) + "\n")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
