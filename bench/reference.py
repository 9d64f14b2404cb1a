"""Attention in float64, and whether a result is as good as it must be (docs/architecture.md)."""

import math

import torch


def _visible(rows, length_q, length_kv, device):
    keys = torch.arange(length_kv, device=device)
    return keys[None, :] <= rows[:, None] + (length_kv - length_q)


KEPT = 2.0**-13  # of the largest term: what the tensor core keeps of 8-bit products
PRODUCTS = 32  # of one instruction
DEVIATIONS = 4
E4M3_GAIN = 16


def _rounded_16(weights, total, dtype):
    return (weights / total).to(dtype).float()


def _rounded_e4m3(weights, total, _):
    """As the kernels do it: the largest weight of a row is a constant."""
    return (weights * E4M3_GAIN).to(torch.float8_e4m3fn).float() / (E4M3_GAIN * total)


def cut_error(q, k, weights, scale):
    """How far the log-sum-exp of each row may be off by what 8-bit products are cut by: half a cut
    for each product, by its sign, and DEVIATIONS of the rest, as the keys weigh."""
    q, k = q.double(), k.double()
    largest = q.abs().amax(-1, keepdim=True) * k.abs().amax(-1)
    cut = KEPT * scale * torch.maximum(largest, (q @ k.T).abs())
    steps = -(-q.shape[-1] // PRODUCTS)
    bias = weights * cut / 2 * ((torch.sign(q) @ torch.sign(k).T).abs() + steps)
    deviation = (weights * cut).square() * ((q.shape[-1] + steps) / 3)
    return bias.sum(-1) + DEVIATIONS * deviation.sum(-1).sqrt()


def reference_rows(q, k, v, rows, causal, output_dtype=None):
    """Rows of one head: O and LSE in float64, O as the baseline has it, largest |logit|, and what
    LSE may be off by besides. With an output_dtype, q, k and v are what 8-bit numbers stand for.
    """
    is_8bit = output_dtype is not None
    scale = 1 / math.sqrt(q.shape[-1])
    hidden = ~_visible(rows, q.shape[0], k.shape[0], q.device) if causal else None

    def softmax_parts(dtype):
        logits = (q[rows].to(dtype) @ k.to(dtype).T) * scale
        largest = logits.abs().max()
        if hidden is not None:
            logits.masked_fill_(hidden, -math.inf)
        maximum = logits.amax(-1, keepdim=True)
        weights = torch.exp(logits - maximum)
        return weights, weights.sum(-1, keepdim=True), maximum, largest

    weights, total, maximum, largest = softmax_parts(torch.float64)
    exact = (weights / total) @ v.double()
    lse = (maximum + total.log()).squeeze(-1)
    weights, total, _, _ = softmax_parts(torch.float32)
    rounded = (_rounded_e4m3 if is_8bit else _rounded_16)(weights, total, q.dtype)
    baseline = (rounded @ v.float()).to(output_dtype or q.dtype).double()
    slack = cut_error(q[rows], k, (weights / total).double(), scale) if is_8bit else 0
    return exact, lse, baseline, largest, slack


def compare_rows(output, log_sum_exp, expected):
    """None if right, else one line that says what is wrong. Rows of one head, double tensors."""
    exact, lse, baseline, largest_logit, slack = expected
    if not torch.isfinite(output).all():
        return "an element is NaN or Inf where the reference is finite"
    error = (output - exact).abs()
    floor = 1e-5 * exact.abs().amax(-1, keepdim=True)
    bound = 2 * (baseline - exact).abs().max() + floor
    if (error > bound).any():
        return f"max error {error.max():.3e}, allowed {bound.min():.3e}"
    rms = error.square().mean().sqrt()
    rms_bound = 1.2 * (baseline - exact).square().mean().sqrt() + floor.mean()
    if rms > rms_bound:
        return f"RMS error {rms:.3e}, allowed {rms_bound:.3e}"
    lse_error = (log_sum_exp - lse).abs()
    lse_bound = 1e-5 + 4 * 2.0**-23 * largest_logit + slack
    if not (lse_error <= lse_bound).all():
        worst = (lse_error - lse_bound).argmax()
        allowed = torch.as_tensor(lse_bound).expand_as(lse_error)[worst]
        return f"LSE error {lse_error[worst]:.3e}, allowed {allowed:.3e}"
    return None


def check_output(tensors, output, log_sum_exp, causal, row_count=256, is_8bit=False):
    """Compares random rows of a random head of [batch, heads, length, head_dim] tensors; of 8-bit
    ones these are what the numbers stand for."""
    q, k, v = tensors
    batch = int(torch.randint(q.shape[0], (1,)))
    head = int(torch.randint(q.shape[1], (1,)))
    key_head = head // (q.shape[1] // k.shape[1])
    rows = torch.randperm(q.shape[2], device=q.device)[:row_count]
    expected = reference_rows(
        q[batch, head], k[batch, key_head], v[batch, key_head], rows, causal,
        output.dtype if is_8bit else None,
    )
    return compare_rows(
        output[batch, head, rows].double(), log_sum_exp[batch, head, rows].double(), expected
    )
