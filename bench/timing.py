"""Kernel time of several implementations, taken interleaved with CUDA events."""

import statistics

import torch

WARM_UPS = 5
SAMPLES = 20
SPIN_SECONDS = 3e-4


def _spin_cycles():
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    kilohertz = getattr(properties, "clock_rate", 0) or 2_000_000
    return int(SPIN_SECONDS * kilohertz * 1000)


def median_seconds(run, spin_cycles):
    """Median of SAMPLES launches. run(i) enqueues one launch on input set i.

    A spin kernel before each start event keeps the GPU busy while the host enqueues what follows:
    the events then stand round GPU work alone, whatever the launch costs on the host.
    """
    for i in range(WARM_UPS):
        run(i)
    events = []
    for i in range(SAMPLES):
        start = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(spin_cycles)
        start.record()
        run(i)
        end.record()
        events.append((start, end))
    torch.cuda.synchronize()
    return statistics.median(start.elapsed_time(end) for start, end in events) * 1e-3


def interleaved(implementations, repetitions):
    """{name: [seconds of each repetition]}; every repetition runs all, in alternating order.

    A power-capped card sinks its clock under load, so only times of one repetition are compared.
    """
    spin_cycles = _spin_cycles()
    times = {name: [] for name in implementations}
    for repetition in range(repetitions):
        names = list(implementations)
        if repetition % 2:
            names.reverse()
        for name in names:
            times[name].append(median_seconds(implementations[name], spin_cycles))
    return times


def input_set_count(set_bytes):
    """How many copies of the inputs a run walks through so that L2 never holds the next one."""
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    l2_bytes = getattr(properties, "L2_cache_size", 64 << 20)
    return max(1, -(-2 * l2_bytes // set_bytes))
