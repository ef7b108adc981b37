"""The applications under test and the sizes at which they are run."""

from toolchain import App

_PHOTO = {
    "small": ("width=96", "height=80"),
    "manual_size": "1x1",
}

APPS = (
    App(
        name="harris",
        generator="harris",
        odd_size="61x47",
        sizes=("3x2", "61x47", "180x148"),
        **_PHOTO,
    ),
    App(
        name="unsharp",
        generator="unsharp",
        odd_size="61x47",
        sizes=("3x2", "61x47", "192x160"),
        **_PHOTO,
    ),
    App(
        name="hist",
        generator="hist",
        odd_size="61x47",
        sizes=("3x2", "61x47", "192x160"),
        **_PHOTO,
    ),
    App(
        name="cuda_mat_mul",
        generator="mat_mul",
        small=("size=96",),
        odd_size="101x67",
        sizes=("3x2", "101x67", "192x192"),
        manual_size="64x64",
    ),
    App(
        name="conv_layer",
        generator="conv_layer",
        small=("batch=2", "channels_in=16", "channels_out=24", "width=20", "height=12"),
        odd_size="24x17x11x1",
        sizes=("24x2x1x1", "24x17x11x3", "24x40x24x4"),
        manual_size="24x4x1x1",
    ),
)

IDS = tuple(app.name for app in APPS)


def at_least(size: str, minimum: str) -> bool:
    """Whether no extent of the first size is below the one of the second."""
    pairs = zip(map(int, size.split("x")), map(int, minimum.split("x")))
    return all(extent >= least for extent, least in pairs)
