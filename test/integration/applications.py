"""The applications under test and the sizes at which they are run."""

from toolchain import App

_PHOTO = {
    "small": ("width=96", "height=80"),
    "manual_size": "1x1",
}


def _photo_app(name: str, *more: str, **fields: object) -> App:
    """An app that makes a picture of the size of its input, of which even one pixel will do."""
    return App(
        name=name,
        generator=name,
        small=("width=96", "height=80", *more),
        odd_size="61x47",
        sizes=("3x2", "61x47", "192x160"),
        manual_size="1x1",
        **fields,
    )


# For long pipelines.
_NARROW = {"beam_size": 4}
_TWO_SEEDS = (1, 2)

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
    _photo_app(
        "stencil_chain", "stencils=4", usual=("stencils=8",), options=_NARROW, seeds=_TWO_SEEDS
    ),
    _photo_app("max_filter", "radius=5", seeds=_TWO_SEEDS),
    _photo_app("iir_blur", seeds=_TWO_SEEDS),
    App(
        name="depthwise_separable_conv",
        generator="depthwise_separable_conv",
        small=("batch=2", "channels_in=8", "channels_out=16", "width=20", "height=12"),
        odd_size="16x17x11x1",
        sizes=("16x2x1x1", "16x17x11x3", "16x40x24x4"),
        manual_size="16x1x1x1",
        seeds=_TWO_SEEDS,
    ),
    _photo_app("bilateral_grid", seeds=_TWO_SEEDS),
    _photo_app("nl_means", "patch=3", "search=3", options=_NARROW, seeds=_TWO_SEEDS),
    _photo_app("interpolate", "levels=3", usual=("levels=5",), options=_NARROW, seeds=_TWO_SEEDS),
    _photo_app("camera_pipe", options=_NARROW, seeds=_TWO_SEEDS),
    _photo_app(
        "local_laplacian",
        "pyramid_levels=3",
        usual=("pyramid_levels=4",),
        options=_NARROW,
        seeds=_TWO_SEEDS,
    ),
    _photo_app(
        "lens_blur",
        "pyramid_levels=2",
        "depths=12",
        "focus=5",
        "samples=8",
        usual=("pyramid_levels=4",),
        options=_NARROW,
        seeds=_TWO_SEEDS,
    ),
    _photo_app("bgu", "cell_size=4", options=_NARROW, seeds=_TWO_SEEDS),
)

IDS = tuple(app.name for app in APPS)


def at_least(size: str, minimum: str) -> bool:
    """Whether no extent of the first size is below the one of the second."""
    pairs = zip(map(int, size.split("x")), map(int, minimum.split("x")))
    return all(extent >= least for extent, least in pairs)
