"""The ways to schedule an application that are compared, and what is known of each without a GPU."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Sequence

import device_code
import occupancy
import runs
from app_times import Variant

from toolchain import App, Toolchain  # noqa: E402

LIBRARIES = runs.HALIDE / "lib64"


@dataclass(frozen=True)
class Settings:
    """What all variants share."""

    plugin: Path
    weights: Path  # folder that may hold <app>.weights
    parallelism: int = 80
    beam_size: int = 32


def variants(app: App, settings: Settings) -> list[Variant]:
    """All ways to schedule the app; the first is the hand-written one."""
    parallelism = f"autoscheduler.parallelism={settings.parallelism}"
    search = ("autoscheduler=Anderson2021", parallelism,
              f"autoscheduler.beam_size={settings.beam_size}")
    baseline = f"autoscheduler.weights_path={runs.ROOT / 'baseline.weights'}"
    result = [
        Variant("manual", "hand-written"),
        Variant("ours", "ours", settings.plugin, (*search, baseline), ours=True),
    ]
    own = settings.weights / f"{app.name}.weights"
    if own.exists():
        result.append(Variant("ours_weights", "ours, weights for the app", settings.plugin,
                              (*search, f"autoscheduler.weights_path={own}"), ours=True))
    result += [
        Variant("reference", "reference", runs.REFERENCE, (*search, baseline)),
        Variant("li2018", "Li2018", LIBRARIES / "libautoschedule_li2018.so",
                ("autoscheduler=Li2018", parallelism)),
        Variant("mullapudi2016", "Mullapudi2016",
                LIBRARIES / "libautoschedule_mullapudi2016.so",
                ("autoscheduler=Mullapudi2016", parallelism,
                 "autoscheduler.experimental_gpu_schedule=1")),
    ]
    return result


def _kernel_figures(kernel: device_code.Kernel, capability: int) -> dict:
    """The assembler's figures with the occupancy that follows from them."""
    result = asdict(kernel)
    if kernel.threads:
        found = occupancy.occupancy(capability, kernel.threads, kernel.registers,
                                    kernel.shared_bytes)
        result |= {"occupancy": found.fraction, "limiter": found.limiter}
    return result


def figures(result: device_code.Compiled, capability: int = 70) -> dict:
    """What is known of one compiled variant, for JSON."""
    if result.error is not None or result.refusals:
        return {"error": result.error or f"refused by ptxas: {result.refusals}"[:240],
                "seconds": result.seconds}
    launches, more = device_code.count_launches(result.launches)
    return {
        "error": None, "seconds": result.seconds, "launches": launches, "more_launches": more,
        "kernels": [_kernel_figures(kernel, capability) for kernel in result.kernels
                    if device_code.runs_at_estimates(kernel, result.launches)],
    }


def _by_our_features(compiler: device_code.Compiler, settings: Settings, job: str, tree: Path,
                     parameters: Sequence[str]) -> dict:
    """Predicted time and memory traffic of a schedule tree, computed by our plugin."""
    prefix = compiler.folder / f"{job}_judged"
    words = ["autoscheduler=Anderson2021", "autoscheduler.beam_size=1", "autoscheduler.top_k=1",
             f"autoscheduler.parallelism={settings.parallelism}",
             f"autoscheduler.weights_path={runs.ROOT / 'baseline.weights'}",
             f"autoscheduler.partial_schedule_path={tree}", f"autoscheduler.top_k_path={prefix}"]
    (judged,) = compiler.compile([(prefix.name, words)], plugin=settings.plugin,
                                 parameters=parameters, keep=True)
    cost = Path(f"{prefix}.0.cost")
    if judged.error is not None or not cost.exists():
        return {"cost_error": judged.error or "no cost"}
    return {"cost_ms": float(cost.read_text()), **device_code.global_traffic(judged.stages)}


def known_without_gpu(tools: Toolchain, app: App, variant: Variant, settings: Settings,
                      folder: Path, parameters: Sequence[str], seconds: int) -> dict:
    """Compiles one variant for capability 7.0 and returns its figures. Leaves <variant>.tree."""
    compiler = device_code.Compiler(tools, app, folder)
    words = list(variant.words)
    tree = folder / f"{variant.name}.tree"
    prefix = folder / variant.name
    if variant.ours:
        words += ["autoscheduler.top_k=1", f"autoscheduler.top_k_path={prefix}"]
    (compiled,) = compiler.compile([(variant.name, words)], plugin=variant.plugin,
                                   parameters=parameters, seconds=seconds, keep=True,
                                   log_level=1 if variant.ours or variant.name == "reference" else 0)
    result = figures(compiled)
    if compiled.error is not None:
        return result
    if variant.ours:
        Path(f"{prefix}.0.tree").replace(tree)
        result["cost_ms"] = float(Path(f"{prefix}.0.cost").read_text())
        result["spills_predicted"] = compiled.spills_predicted
        result |= device_code.global_traffic(compiled.stages)
    elif variant.name == "reference":
        text = runs.tree_of((folder / f"{variant.name}.log").read_text(errors="replace"))
        if text:
            tree.write_text(text)
            result |= _by_our_features(compiler, settings, variant.name, tree, parameters)
    return result
