"""What to search with: the options of the n-th schedule of a pipeline."""

import random

SPACES = ["1111", "1111", "1111", "1111", "1101", "1011", "0111", "1100", "0011", "1001", "0101",
          "0001", "1000", "0100"]
# Pipelines that only sampled greedy searches get through within seconds; besides those of apps/.
HEAVY = {"hundred_funcs"}
# Options that describe the device or the network: a schedule is replayed with the same ones.
KEPT = ("parallelism", "shared_memory_limit_kb", "shared_memory_sm_limit_kb", "active_block_limit",
        "active_warp_limit", "stack_factor", "weights_path")


def search_space(draw, options):
    """How much of the space of schedules is searched, and how."""
    options["search_space_options"] = draw.choice(SPACES)
    options["random_dropout_seed"] = draw.randrange(1 << 20)
    options["random_dropout"] = draw.choice([1, 1, 5, 30, 60, 100])
    options["randomize_tilings"] = int(draw.random() < 0.92)


def device(draw, options):
    """Usually a V100, sometimes something else."""
    options["parallelism"] = draw.choice([80, 80, 80, 80, 16, 2, 108])
    options["shared_memory_limit_kb"] = draw.choice([48, 48, 48, 16, 8, 96])
    options["shared_memory_sm_limit_kb"] = draw.choice([96, 96, 64, 164])
    options["active_block_limit"] = draw.choice([32, 32, 16])
    options["active_warp_limit"] = draw.choice([64, 64, 48])
    if draw.random() < 0.1:
        options["stack_factor"] = draw.choice([0.5, 0.125])


def settings_of(name, seed, weights, heavy=False):
    """Options for one search, the same ones whenever name, seed and weights are.

    Seed 0 is a plain beam search, greedy for heavy pipelines. weights is a
    list of files; heavy means that only sampled greedy searches end within seconds.
    """
    if seed == 0:
        return {"parallelism": 80, "num_passes": 1, "beam_size": 1 if heavy else 4,
                "randomize_tilings": 1}
    draw = random.Random(f"{name} {seed}")
    options = {"beam_size": 1}
    device(draw, options)
    search_space(draw, options)
    options["num_passes"] = draw.choice([0, 1, 1, 1, 2])
    if weights and draw.random() < 0.7:
        options["weights_path"] = str(draw.choice(weights))
    if heavy:
        options.update(randomize_tilings=1, random_dropout=draw.choice([1, 5, 30]), num_passes=1)
    elif draw.random() < 0.12:
        options.update(beam_size=draw.choice([4, 4, 4, 8, 8, 32]), randomize_tilings=1,
                       num_passes=draw.choice([1, 2, 3]),
                       freeze_inline_compute_root=draw.choice([0, 0, 1]))
    return options


def kept(options):
    """The options to replay a schedule with."""
    return {k: options[k] for k in KEPT if k in options}
