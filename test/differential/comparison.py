"""Compares one schedule as two plugins see it: records, features, costs."""

import numpy

import feature_names
import network

COSTS = ["cost per stage", "cost per stage, numpy", "total cost", "total cost, logged"]
QUANTITIES = feature_names.schedule_names() + feature_names.algorithm_names() + COSTS
NUM_FEATURES = feature_names.SCHEDULE + feature_names.ALGORITHM
TOLERANCE = 1e-5
# Single precision does not resolve a coefficient that is a small difference of large numbers.
ROUNDING = 4 * 2.0 ** -24
LOGGED_DIGIT = 0.5e-6


class Comparison:
    """Outcome for one schedule.

    compared, nonzero, unequal: how often per quantity; largest: largest difference (costs: relative
    to the sum of the absolute terms and what rounding allows on top of it); texts: what differs, in
    words; stages: number of records.
    """

    def __init__(self):
        self.compared = numpy.zeros(len(QUANTITIES), int)
        self.nonzero = numpy.zeros(len(QUANTITIES), int)
        self.unequal = numpy.zeros(len(QUANTITIES), int)
        self.largest = numpy.zeros(len(QUANTITIES))
        self.texts = []
        self.stages = 0
        self.structure_differs = False

    @property
    def equal(self):
        return not self.structure_differs and not self.unequal.any()

    def quantities(self):
        """Names of what differs."""
        names = [QUANTITIES[i] for i in numpy.flatnonzero(self.unequal)]
        return names + (["records"] if self.structure_differs else [])

    def records_differ(self, text):
        self.structure_differs = True
        self.texts.append(text)

    def features(self, ours, theirs):
        """Two blobs, bit for bit except that both zeros are equal."""
        a = numpy.frombuffer(ours, "<f4").reshape(-1, NUM_FEATURES)
        b = numpy.frombuffer(theirs, "<f4").reshape(-1, NUM_FEATURES)
        self.stages = len(b)
        if len(a) != len(b):
            self.records_differ(f"{len(a)} records instead of {len(b)}")
            return
        same = (a == b) | (numpy.isnan(a) & numpy.isnan(b))
        with numpy.errstate(invalid="ignore"):
            gap = numpy.where(same, 0, numpy.abs(a.astype(float) - b))
        gap = numpy.where(same | numpy.isfinite(gap), gap, numpy.inf)
        self.compared[:NUM_FEATURES] += len(a)
        self.nonzero[:NUM_FEATURES] += (b != 0).sum(axis=0)
        self.unequal[:NUM_FEATURES] += (~same).sum(axis=0)
        self.largest[:NUM_FEATURES] = gap.max(axis=0, initial=0)
        for stage, i in zip(*numpy.nonzero(~same)):
            self.texts.append(f"record {stage} {QUANTITIES[i]}: {a[stage, i]!r} instead of "
                              f"{b[stage, i]!r}")

    def cost(self, name, ours, theirs, scale, slack):
        """Costs that may differ by TOLERANCE * scale + slack."""
        i = QUANTITIES.index(name)
        ours, theirs = numpy.atleast_1d(ours), numpy.atleast_1d(theirs)
        self.compared[i] += len(theirs)
        self.nonzero[i] += (theirs != 0).sum()
        if len(ours) != len(theirs):
            self.records_differ(f"{name}: {len(ours)} instead of {len(theirs)} values")
            return
        gap = numpy.abs(ours - theirs)
        wrong = ~(gap <= TOLERANCE * scale + slack)
        self.unequal[i] += wrong.sum()
        allowed = numpy.maximum(scale + slack / TOLERANCE, 1e-30)
        self.largest[i] = max(self.largest[i], (gap / allowed).max(initial=0))
        for stage in numpy.flatnonzero(wrong):
            self.texts.append(f"record {stage} {name}: {ours[stage]!r} instead of "
                              f"{theirs[stage]!r}")


class Oracle:
    """Costs of the reference's compiled network and of the one in numpy."""

    def __init__(self, plugin, default_weights):
        self.reference = network.ReferenceNetwork(plugin)
        self.default_weights = str(default_weights)
        self.weights = {}

    def weights_of(self, options):
        path = options.get("weights_path") or self.default_weights
        if path not in self.weights:
            self.weights[path] = network.read_weights(path)
        return self.weights[path]

    def compare_costs(self, outcome, options, stage_costs, blob, logged=None):
        """Our costs against those for the blob; logged is the total that the reference printed."""
        weights, cores = self.weights_of(options), int(options.get("parallelism", 16))
        exact = network.Prediction(weights, blob, cores)
        theirs = self.reference.costs(weights, blob, cores)
        ours = numpy.array(stage_costs)
        rounding = ROUNDING * exact.sums
        outcome.cost("cost per stage", ours, theirs, exact.terms, rounding)
        outcome.cost("cost per stage, numpy", ours, exact.costs, exact.terms, rounding)
        scale, slack = exact.terms.sum(), rounding.sum()
        outcome.cost("total cost", ours.sum(), theirs.sum(), scale, slack)
        if logged is not None:
            outcome.cost("total cost, logged", ours.sum(), logged, scale, slack + LOGGED_DIGIT)


def has_fused_funcs(tree):
    """Whether a Func is computed below the root: it is realized in a nest that is not the root."""
    return any(line.startswith(" ") and line.split()[0] == "realize:" for line in tree.split("\n")
               if line.strip())
