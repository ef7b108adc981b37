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
    app_schedules: int = 600
    app_good_schedules: int = 450
    good_dropout: int = 60
    good_seed: int = 100000
    # Training.
    seed: int = 1
    # Every round takes all students through `epochs` passes, with a rate that falls from the one
    # given to a hundredth of it; the next round starts from where the last one got.
    epochs: int = 100
    rates: str = "0.004 0.004 0.003 0.002"
    units_per_step: int = 1
    limit: int = 100
    clip: float = 160

    @property
    def rounds(self):
        """The rate of each round."""
        return self.rates.split()

    def training_flags(self, number):
        """Options of retrain_cost_model for a round."""
        return [f"--epochs={self.epochs}", f"--rates={self.rounds[number]}",
                f"--seed={self.seed + number}", f"--units_per_step={self.units_per_step}", f"--limit={self.limit}",
                f"--clip={self.clip}", "--loss=terms", "--log_weight=0",
                "--cosine=1", "--standardize=1",
                "--partition_schedules=0", "--verbose=0", "--best_benchmark=",
                "--best_schedule=", "--threads=1"]


@dataclasses.dataclass(frozen=True)
class Student:
    """One weights file to be made."""

    name: str
    # Files whose mean prediction is the label.
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
