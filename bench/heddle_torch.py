"""heddle on torch tensors: [batch, heads, length, head_dim], any strides, last dim contiguous."""

import torch

import heddle_ctypes

_DTYPES = {torch.bfloat16: heddle_ctypes.BF16, torch.float16: heddle_ctypes.FP16}


def problem_of(q, k, v, output, causal):
    problem = heddle_ctypes.Problem(
        batch=q.shape[0],
        heads=q.shape[1],
        kv_heads=k.shape[1],
        seqlen_q=q.shape[2],
        seqlen_kv=k.shape[2],
        head_dim=q.shape[3],
        dtype=_DTYPES[q.dtype],
        mask=heddle_ctypes.CAUSAL if causal else heddle_ctypes.FULL,
    )
    named = {"query": q, "key": k, "value": v, "output": output}
    for name, tensor in named.items():
        if tensor.stride(3) != 1:
            raise ValueError(f"{name}: stride of the last dimension is {tensor.stride(3)}, not 1")
        setattr(problem, name + "_strides", (heddle_ctypes.c_int64 * 3)(*tensor.stride()[:3]))
    return problem


class Attention:
    """One problem with its output and workspace, ready to be launched again and again."""

    def __init__(self, context, q, k, v, causal, with_log_sum_exp=False):
        self.context = context
        self.output = torch.empty_like(q)
        self.log_sum_exp = None
        if with_log_sum_exp:
            self.log_sum_exp = torch.empty(q.shape[:3], device=q.device, dtype=torch.float32)
        self.problem = problem_of(q, k, v, self.output, causal)
        self.arguments = heddle_ctypes.Arguments(
            query=q.data_ptr(),
            key=k.data_ptr(),
            value=v.data_ptr(),
            output=self.output.data_ptr(),
            log_sum_exp=self.log_sum_exp.data_ptr() if with_log_sum_exp else None,
        )
        size = context.workspace_bytes(self.problem, self.arguments)
        self._kept = (q, k, v, torch.empty(size, device=q.device, dtype=torch.uint8))
        if size > 0:
            self.arguments.workspace = self._kept[-1].data_ptr()
            self.arguments.workspace_bytes = size

    def __call__(self):
        stream = torch.cuda.current_stream().cuda_stream
        self.context.launch(self.problem, self.arguments, stream)
        return self.output
