"""The stages of making weights: samples, training, evaluation. Each skips what is done already."""

import json
import os
import pathlib
import shutil

from . import plan, tools

LARGE_APPS = ("lens_blur", "local_laplacian", "interpolate", "stencil_chain", "camera_pipe")


class Workshop:
    """One folder in which weights are made."""

    def __init__(self, settings, programs, folder, teachers):
        self.settings = settings
        self.programs = programs
        self.folder = pathlib.Path(folder)
        self.teachers = pathlib.Path(teachers)

    # Samples.

    def app_files(self, app):
        """Packed samples of an application: random ones, good ones."""
        generator = plan.generator_of(app)
        folder = self.folder / "samples" / "apps"
        return [folder / f"{generator}{suffix}.samples" for suffix in ("", "_good")]

    def random_folder(self):
        """Folder of the random pipelines."""
        return self.folder / "samples" / "random"

    async def _generate(self, label, what, good, guides, teachers):
        settings = self.settings
        command = [self.programs.path("generate_samples"), *what, f"--guides={guides}",
                   f"autoscheduler.parallelism={settings.parallelism}", "--threads=1"]
        if teachers:
            command.append(f"--teachers={teachers}")
        if good:
            command += ["--suffix=_good", f"--seed={settings.good_seed}",
                        f"autoscheduler.random_dropout={settings.good_dropout}"]
        log = self.folder / "logs" / f"samples_{label}{'_good' if good else ''}.log"
        await tools.run(command, log)

    async def sample_app(self, app):
        """Samples of one application, led and labelled by the teacher that never saw it."""
        teacher = self.teachers / f"{app}.weights"
        counts = (self.settings.app_schedules, self.settings.app_good_schedules)
        for file, count in zip(self.app_files(app), counts):
            if count > 0 and not file.exists():
                library = self.programs.path("app_generators.so")
                what = [f"--out={file.parent}", f"--load={library}", f"--count={count}",
                        f"--generators={plan.generator_of(app)}"]
                await self._generate(app, what, "_good" in file.name, teacher, teacher)
        return "sampled"

    async def sample_random(self, share, shares):
        """One share of the random pipelines, led by one of the teachers."""
        settings = self.settings
        per_share = -(-settings.random_pipelines // shares)
        first = share * per_share
        number = min(per_share, settings.random_pipelines - first)
        if number <= 0:
            return "nothing left"
        guide = self.teachers / f"{plan.APPS[share % len(plan.APPS)]}.weights"
        for good, count in ((False, settings.random_schedules),
                            (True, settings.random_good_schedules)):
            what = [f"--out={self.random_folder()}", f"--random={number}",
                    f"--first_random={settings.first_random + first}", f"--count={count}"]
            if count > 0:
                await self._generate(f"random_{share}", what, good, guide, "")
        return f"{number} pipelines sampled"

    # Training.

    def student_file(self, student):
        """Weights of a student, finished or not."""
        return self.folder / "students" / f"{student.name}.weights"

    def is_trained(self, student):
        """Whether training has come to its end."""
        return self.student_file(student).with_suffix(".done").exists()

    def trained_file(self, student):
        """Weights of a student that has been trained; a ToolError if it has not."""
        if not self.is_trained(student):
            raise tools.ToolError(f"{student.name} has not been trained yet")
        return self.student_file(student)

    async def train(self, student):
        """The whole training, or what an earlier run has left of it."""
        if self.is_trained(student):
            return "done before"
        out = self.student_file(student)
        out.parent.mkdir(parents=True, exist_ok=True)
        files = [self.random_folder()]
        for app in student.apps:
            files += [file for file in self.app_files(app) if file.exists()]
        command = [self.programs.path("distill_weights"), *self.settings.training_flags(student),
                   f"--weights_out={out}", "--resume=1", f"--log={out.with_suffix('.jsonl')}",
                   f"--teachers={','.join(map(str, student.teachers))}", *files]
        if student.held_out:
            command.append(f"--exclude={plan.generator_of(student.held_out)}")
        text = await tools.run(command, self.folder / "logs" / f"train_{student.name}.log")
        out.with_suffix(".done").touch()
        return text.splitlines()[-1]

    def install(self, student, weights_folder, baseline):
        """Copies finished weights to where they are shipped; in place at once."""
        target = baseline if student.name == "baseline" else \
            pathlib.Path(weights_folder) / f"{student.name}.weights"
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.{os.getpid()}")
        shutil.copyfile(self.trained_file(student), temporary)
        os.replace(temporary, target)

    # Evaluation.

    async def rank(self, student):
        """Rank quality of the student's predictions on schedules that it has not seen."""
        out = self.folder / "evaluation" / f"{student.name}.json"
        apps = (student.held_out,) if student.held_out else plan.APPS
        files = [file for app in apps for file in self.app_files(app) if file.exists()]
        files = files or [self.random_folder()]
        out.parent.mkdir(parents=True, exist_ok=True)
        command = [self.programs.path("retrain_cost_model"), "--epochs=1", "--rates=1",
                   f"--initial_weights={self.trained_file(student)}",
                   f"--weights_out={out.with_suffix('.unused')}", "--best_benchmark=",
                   "--best_schedule=", f"--predictions_file={out.with_suffix('.predictions')}",
                   "--verbose=0", "--partition_schedules=0", "--limit=0", "--threads=1",
                   f"--teachers={','.join(map(str, student.teachers))}", f"--report={out}",
                   *files]
        await tools.run(command, self.folder / "logs" / f"rank_{student.name}.log")
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        return {"schedules": sum(row["schedules"] for row in rows),
                "spearman": sum(row["spearman"] for row in rows) / len(rows),
                "least_spearman": min(row["spearman"] for row in rows),
                "r_squared": sum(row["r_squared"] for row in rows) / len(rows)}

    async def _best_cost(self, app, guide, teacher, label):
        folder = self.folder / "evaluation" / "best" / label
        beam = 4 if app in LARGE_APPS else 32
        command = [self.programs.path("generate_samples"), f"--out={folder}", "--overwrite=1",
                   f"--load={self.programs.path('app_generators.so')}", "--count=1", "--best=1",
                   f"--generators={plan.generator_of(app)}", f"--guides={guide}",
                   f"--teachers={teacher}", "--threads=1",
                   f"autoscheduler.parallelism={self.settings.parallelism}",
                   f"autoscheduler.beam_size={beam}"]
        text = await tools.run(command, self.folder / "logs" / f"best_{app}_{label}.log")
        return json.loads(text.splitlines()[-1])["first_label_ms"]

    async def choose(self, student):
        """What the schedule chosen with the student costs, relative to the teacher's choice."""
        app, teacher = student.held_out, student.teachers[0]
        own = await self._best_cost(app, teacher, teacher, "teacher")
        found = await self._best_cost(app, self.trained_file(student), teacher, "student")
        return {"teacher_ms": own, "student_ms": found, "ratio": found / own}
