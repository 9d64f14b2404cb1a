"""heddle's 8-bit attention on tensors that its own quantiser made of bf16 ones."""

import torch

import eight_bit_layout as layout
import heddle_ctypes


def _address(tensor):
    return tensor.data_ptr()


class EightBitAttention:
    """One problem, quantised from [batch, heads, length, head_dim] bf16 tensors, ready to launch.

    quantise() makes the 8-bit inputs anew; calling the object launches attention on them.
    """

    def __init__(self, context, q, k, v, causal, scales, value_layout, steps=0):
        for name, tensor in {"q": q, "k": k, "v": v}.items():
            if not tensor.is_contiguous():
                raise ValueError(f"{name}: is not contiguous; pass {name}.contiguous()")
        self.context, self.scales, self.value_layout = context, scales, value_layout
        self.problem = heddle_ctypes.Problem(
            batch=q.shape[0], heads=q.shape[1], kv_heads=k.shape[1],
            seqlen_q=q.shape[2], seqlen_kv=k.shape[2], head_dim=q.shape[3],
            dtype=heddle_ctypes.E4M3,
            mask=heddle_ctypes.CAUSAL if causal else heddle_ctypes.FULL,
            output_dtype=heddle_ctypes.BF16, scales=heddle_ctypes.SCALES[scales],
            value_layout=heddle_ctypes.VALUE_LAYOUTS[value_layout],
        )
        self.quantiser = heddle_ctypes.Quantiser(
            dtype=heddle_ctypes.BF16, steps=steps, seed=1,
            query=_address(q), key=_address(k), value=_address(v),
        )
        self.query, self.key = (torch.empty_like(tensor, dtype=torch.uint8) for tensor in (q, k))
        self.value = torch.empty(
            layout.value_shape(value_layout, *v.shape), device=v.device, dtype=torch.uint8
        )
        self.output = torch.empty_like(q)
        self.device = q.device
        self.log_sum_exp = self._floats(q.shape[:3])
        self.query_descale, self.key_descale = self._descale(q), self._descale(k)
        self.value_descale = self._floats(layout.value_descale_shape(scales, *v.shape[:2]))
        self._inputs = (q, k, v)
        self.quantising = self._arguments()
        self.launching = self._arguments()
        self._give_workspace(
            self.quantising, context.quantise_workspace_bytes(self.problem, self.quantiser)
        )
        self._give_workspace(
            self.launching, context.workspace_bytes(self.problem, self.launching)
        )
        self.quantise()

    def _floats(self, shape):
        return torch.zeros(*shape, device=self.device, dtype=torch.float32)

    def _descale(self, tensor):
        return self._floats(layout.descale_shape(self.scales, *tensor.shape[:3]))

    def _arguments(self):
        return heddle_ctypes.Arguments(
            query=_address(self.query), key=_address(self.key), value=_address(self.value),
            output=_address(self.output), log_sum_exp=_address(self.log_sum_exp),
            query_descale=_address(self.query_descale), key_descale=_address(self.key_descale),
            value_descale=_address(self.value_descale),
        )

    def _give_workspace(self, arguments, size):
        if size == 0:
            return
        memory = torch.empty(size, device=self.device, dtype=torch.uint8)
        self._inputs += (memory,)
        arguments.workspace, arguments.workspace_bytes = _address(memory), size

    def quantise(self):
        stream = torch.cuda.current_stream().cuda_stream
        self.context.quantise(self.problem, self.quantiser, self.quantising, stream)

    def __call__(self):
        stream = torch.cuda.current_stream().cuda_stream
        self.context.launch(self.problem, self.launching, stream)
        return self.output

    def dequantised(self):
        """Q, K and V by rows in fp32: what the 8-bit numbers and scales stand for."""
        length = self.key.shape[2]
        value = self.value
        if self.value_layout == "transposed":
            value = in_key_order(value, length).transpose(2, 3)
        return (
            numbers(self.query) * per_row(self.query_descale, self.query.shape),
            numbers(self.key) * per_row(self.key_descale, self.key.shape),
            numbers(value) * per_row(self.value_descale, value.shape),
        )


def numbers(elements):
    """e4m3 bits as fp32."""
    return elements.contiguous().view(torch.float8_e4m3fn).float()


def in_key_order(transposed, length):
    """[..., positions] in the order that 8-bit products want, as [..., keys]."""
    return transposed[..., _index(layout.key_positions(length), transposed.device)]


def per_row(descale, shape):
    """Factors by tensor, head, block or row, for multiplying [batch, heads, rows, columns]."""
    batch, heads, rows, _ = shape
    if descale.numel() == 1:
        return descale.reshape(1, 1, 1, 1)
    factors = descale.reshape(batch, heads, -1)
    index = layout.scale_of_row(factors.shape[2], rows)
    return factors[..., _index(index, descale.device)][..., None]


def _index(places, device):
    return torch.tensor(places, dtype=torch.long, device=device)
