"""A Python program that watches searches, ends them, and lets errors pass through them.

usage: progress_host.py (with the package halide_anderson2021 in PYTHONPATH)
"""

import os
import re
import signal
import threading
import time

import halide as hl
import halide_anderson2021 as anderson2021

from scheduling_host import make_pipeline

TARGET = hl.Target("host-opencl")


def schedule(**options):
    """A search of a second or so."""
    pipeline = make_pipeline()
    params = anderson2021.params(**{"parallelism": 80, "threads": 1, "beam_size": 300, **options})
    return pipeline, pipeline.apply_autoscheduler(TARGET, params)


def nameless(source):
    """A schedule without the numbers that tell Funcs of the same name apart in one process."""
    return re.sub(r"[$_]\d+", "", source)


def watching():
    seen, times, threads = [], [], set()

    def callback(now):
        seen.append(now)
        times.append(time.monotonic())
        threads.add(threading.get_ident())

    with anderson2021.progress(callback):
        _, results = schedule()
    assert "gpu_blocks" in results.schedule_source
    assert threads == {threading.get_ident()}
    assert len(seen) >= 3, seen
    assert seen[0].best_ms is None and seen[0].eta_s is None and seen[0].fraction < 0.1
    check_order(seen)
    gaps = [after - before for before, after in zip(times, times[1:])]
    assert all(gap > 0.09 for gap in gaps[:-1]), gaps
    # Outside of the block nobody watches.
    count = len(seen)
    _, again = schedule()
    assert len(seen) == count
    assert nameless(again.schedule_source) == nameless(results.schedule_source)
    return nameless(results.schedule_source)


def check_order(seen):
    for before, after in zip(seen, seen[1:]):
        assert after.fraction >= before.fraction and after.states >= before.states
        assert after.elapsed_s >= before.elapsed_s
        assert after.pass_number >= before.pass_number <= before.passes >= after.passes
        assert before.fraction < 1
    assert seen[-1].fraction == 1 and seen[-1].eta_s == 0 and seen[-1].best_ms > 0


def watching_trials():
    """Short searches tell into how many parts a histogram is split: those are part of the whole."""
    def splitting():
        h, x, r = hl.Func("h"), hl.Var("x"), hl.RDom([hl.Range(0, 1000000)])
        h[x] = 0
        h[(r * 37 + r // 11) & 63] += 1
        f = hl.Func("f")
        f[x] = hl.cast(hl.Float(32), h[x & 63]) * x
        f.set_estimates([hl.Range(0, 1536)])
        params = anderson2021.params(parallelism=80, threads=1, beam_size=64)
        return hl.Pipeline(f).apply_autoscheduler(TARGET, params).schedule_source

    seen = []
    with anderson2021.progress(seen.append):
        assert "rfactor" in splitting()
    check_order(seen)
    assert seen[0].best_ms is None and seen[0].pass_number == 1 and seen[0].passes > 4
    assert all(now.pass_number > 4 for now in seen if now.best_ms is not None)
    # Whoever wants the end gets it at once, with a schedule; an error is no reason to go on.
    calls = []
    with anderson2021.progress(lambda now: calls.append(now) or False):
        assert "gpu_" in splitting()
    assert [now.fraction == 1 for now in calls] == [False, True], calls
    try:
        with anderson2021.progress(lambda now: 1 / 0):
            splitting()
    except ZeroDivisionError:
        pass
    else:
        raise AssertionError("the exception is lost")


def stopping():
    for answers in ([False], [None, True, 0]):
        left = list(answers)

        def callback(now):
            assert left or now.fraction == 1, "called after it wanted the end"
            return left.pop(0) if left else None

        begin = time.monotonic()
        with anderson2021.progress(callback):
            pipeline, results = schedule(beam_size=3000)
        assert time.monotonic() - begin < 30
        assert not left and "gpu_blocks" in results.schedule_source
        assert pipeline.realize([64, 32], TARGET) is not None


def raising():
    class OutOfInk(Exception):
        """An error that nobody else raises."""

    calls = 0

    def callback(_):
        nonlocal calls
        calls += 1
        raise OutOfInk("no more")

    pipeline = make_pipeline()
    params = anderson2021.params(parallelism=80)
    for _ in range(2):  # the pipeline stays as it was
        try:
            with anderson2021.progress(callback):
                pipeline.apply_autoscheduler(TARGET, params)
        except OutOfInk as error:
            assert str(error) == "no more"
        else:
            raise AssertionError("the exception is lost")
    assert calls == 2, "called again after it has raised"
    pipeline.apply_autoscheduler(TARGET, params)

    # Also if the error of the search is dealt with inside of the block.
    try:
        with anderson2021.progress(callback):
            try:
                schedule()
            except hl.HalideError as error:
                assert "progress callback" in str(error), error
    except OutOfInk:
        pass
    else:
        raise AssertionError("the exception is lost")

    # Errors of the search itself come out as they are.
    try:
        with anderson2021.progress(lambda _: None):
            schedule(beam_size=0)
    except hl.HalideError as error:
        assert "beam_size" in str(error)
    else:
        raise AssertionError("no error")


def interrupting():
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    begin = time.monotonic()
    try:
        with anderson2021.progress(lambda _: None):
            timer.start()
            schedule(beam_size=20000)
    except KeyboardInterrupt:
        assert time.monotonic() - begin < 30
    else:
        raise AssertionError("the interrupt is lost")


def nesting():
    outer, inner = [], []
    with anderson2021.progress(outer.append):
        with anderson2021.progress(inner.append):
            schedule(beam_size=1)
        assert not outer and inner
        schedule(beam_size=1)
    assert outer
    count = len(inner)
    schedule(beam_size=1)
    assert len(inner) == count


def from_threads(expected):
    inside, most, texts = 0, 0, []

    def callback(_):
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        time.sleep(0.01)  # lets other threads go on
        inside -= 1

    with anderson2021.progress(callback):
        threads = [threading.Thread(target=lambda: texts.append(schedule()[1].schedule_source))
                   for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert most == 1
    assert [nameless(text) for text in texts] == [expected] * 3


def main():
    expected = watching()
    watching_trials()
    stopping()
    raising()
    interrupting()
    nesting()
    from_threads(expected)
    print("all right")


if __name__ == "__main__":
    main()
