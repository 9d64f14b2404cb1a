"""Attention in float64, and whether a result is as good as it must be (docs/architecture.md)."""

import math

import torch


def _visible(rows, length_q, length_kv, device):
    keys = torch.arange(length_kv, device=device)
    return keys[None, :] <= rows[:, None] + (length_kv - length_q)


def reference_rows(q, k, v, rows, causal):
    """Rows of one head: O and LSE in float64, O as the bf16 baseline has it, largest |logit|."""
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
    baseline = (weights / total).to(q.dtype).float() @ v.float()
    return exact, lse, baseline.to(q.dtype).double(), largest


def compare_rows(output, log_sum_exp, expected):
    """None if right, else one line that says what is wrong. Rows of one head, double tensors."""
    exact, lse, baseline, largest_logit = expected
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
    lse_error = (log_sum_exp - lse).abs().max()
    lse_bound = 1e-5 + 4 * 2.0**-23 * largest_logit
    if not lse_error <= lse_bound:
        return f"LSE error {lse_error:.3e}, allowed {lse_bound:.3e}"
    return None


def check_output(tensors, output, log_sum_exp, causal, row_count=256):
    """Compares random rows of a random head of [batch, heads, length, head_dim] tensors."""
    q, k, v = tensors
    batch = int(torch.randint(q.shape[0], (1,)))
    head = int(torch.randint(q.shape[1], (1,)))
    key_head = head // (q.shape[1] // k.shape[1])
    rows = torch.randperm(q.shape[2], device=q.device)[:row_count]
    expected = reference_rows(
        q[batch, head], k[batch, key_head], v[batch, key_head], rows, causal
    )
    return compare_rows(
        output[batch, head, rows].double(), log_sum_exp[batch, head, rows].double(), expected
    )
