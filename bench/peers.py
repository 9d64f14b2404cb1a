"""What a PyTorch user would run instead. Each peer takes (q, k, v, causal) of one cell."""

import functools
import math

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention


def _sdpa(backend):
    def attend(q, k, v, causal):
        # Entering the context costs host time only, which the spin kernel hides.
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(q, k, v, is_causal=causal)

    return attend


def unfused(q, k, v, causal):
    """S = scale·QKᵀ, softmax (fp32 inside, bf16 out), PV: three kernels, a fourth if causal."""
    batch, heads, length, head_dim = q.shape
    shape = (batch * heads, length, head_dim)
    q, k, v = (tensor.reshape(shape) for tensor in (q, k, v))
    scores = torch.baddbmm(
        q.new_empty(()).expand(batch * heads, length, length),
        q,
        k.transpose(1, 2),
        beta=0,
        alpha=1 / math.sqrt(head_dim),
    )
    if causal:
        scores.masked_fill_(_hidden(length, q.device), -math.inf)
    return torch.bmm(torch.softmax(scores, -1), v).reshape(batch, heads, length, head_dim)


@functools.lru_cache(maxsize=1)
def _hidden(length, device):
    """The upper triangle, made in the warm-up: not part of what is timed."""
    return torch.ones(length, length, dtype=torch.bool, device=device).triu(1)


PEERS = {
    "flash": _sdpa(SDPBackend.FLASH_ATTENTION),
    "cudnn": _sdpa(SDPBackend.CUDNN_ATTENTION),
    "unfused": unfused,
}
