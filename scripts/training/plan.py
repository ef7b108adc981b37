"""Which weights are trained, on what, and with which settings."""

import dataclasses
import pathlib

# Application -> its generator, where that has another name.
GENERATORS = {"cuda_mat_mul": "mat_mul"}
APPS = ("bgu", "bilateral_grid", "camera_pipe", "conv_layer", "cuda_mat_mul",
        "depthwise_separable_conv", "harris", "hist", "iir_blur", "interpolate", "lens_blur",
        "local_laplacian", "max_filter", "nl_means", "stencil_chain", "unsharp")
NAMES = tuple(sorted(APPS + ("gpu",))) + ("baseline",)


def generator_of(app):
    """Name of the generator of an application."""
    return GENERATORS.get(app, app)


@dataclasses.dataclass(frozen=True)
class Settings:
    """Everything that decides on the result, apart from the teachers' files."""

    parallelism: int = 80
    # Random pipelines: how many, the seed of the first, and schedules of each.
    random_pipelines: int = 1600
    first_random: int = 1001
    random_schedules: int = 8
    random_good_schedules: int = 3
    # Schedules of each application: random descents, and greedy ones that rarely go astray.
    app_schedules: int = 1100
    app_good_schedules: int = 700
    good_dropout: int = 60
    good_seed: int = 100000
    # Training: see distill_weights --help.
    seed: int = 1
    steps: int = 8000
    units_per_step: int = 256
    rate: float = 0.03
    rows: int = 60000
    limit: int = 100
    unmixed: float = 0.05
    # The mean of several teachers is beyond what a student can be everywhere, so it has to be told
    # what matters.
    mean_unmixed: float = 0.8
    mean_cost_weight: float = 10

    def training_flags(self, student):
        """Options of distill_weights for a student."""
        names = ("seed", "steps", "units_per_step", "rate", "rows", "limit")
        flags = [f"--{name}={getattr(self, name)}" for name in names] + ["--threads=1"]
        if len(student.teachers) == 1:
            return [*flags, f"--unmixed={self.unmixed}"]
        return [*flags, f"--unmixed={self.mean_unmixed}",
                f"--cost_weight={self.mean_cost_weight}"]


@dataclasses.dataclass(frozen=True)
class Student:
    """One weights file to be made."""

    name: str
    # Files whose mean coefficients are learnt.
    teachers: tuple
    # Applications among the samples.
    apps: tuple

    @property
    def held_out(self):
        """The application that the weights must not have seen, or None."""
        return self.name if self.name in APPS else None


def make_students(names, teachers_folder):
    """The students of the given names; a ValueError if a teacher is missing."""
    folder = pathlib.Path(teachers_folder)
    files = {app: folder / f"{app}.weights" for app in APPS}
    missing = [str(path) for path in files.values() if not path.is_file()]
    if missing:
        raise ValueError("there is no " + ", no ".join(missing))
    students = []
    for name in names:
        if name in APPS:
            apps = tuple(app for app in APPS if app != name)
            students.append(Student(name, (files[name],), apps))
        elif name in ("gpu", "baseline"):
            apps = APPS if name == "baseline" else ()
            students.append(Student(name, tuple(files.values()), apps))
        else:
            raise ValueError(f"there are no weights called {name}; there are: {' '.join(NAMES)}")
    return students
