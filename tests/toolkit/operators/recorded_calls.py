# SPDX-License-Identifier: Apache-2.0
"""Calls that model code is made of: name -> (function, shapes of its tensors...)."""
import torch
import torch.nn.functional as F

GEMM = ["linear", "linear_3d", "linear_no_bias", "matmul", "matmul_3d", "matmul_broadcast", "matmul_4d", "matrix_vector",
        "dot", "bmm", "baddbmm", "addbmm", "addmv", "einsum", "einsum_4d", "addmm_activation"]
CONV = ["conv1d", "conv2d", "conv2d_same", "conv3d", "transposed_1d", "transposed_2d", "transposed_3d"]


def assign(a, b):
    out = torch.empty_like(a)
    out[:, 0] = b
    out[0] = 1.0
    out[:, 1:3] = a[:, 1:3]
    return out


CALLS = {
    "linear": (F.linear, (8, 16), (32, 16), (32,)),
    "linear_3d": (F.linear, (4, 8, 16), (32, 16), (32,)),
    "linear_no_bias": (lambda a, b: F.linear(a, b), (4, 8, 16), (32, 16)),
    "matmul": (torch.matmul, (8, 16), (16, 4)),
    "matmul_3d": (torch.matmul, (3, 8, 16), (3, 16, 4)),
    "matmul_broadcast": (torch.matmul, (3, 8, 16), (16, 4)),
    "matmul_4d": (torch.matmul, (2, 3, 8, 16), (2, 3, 16, 4)),
    "matrix_vector": (torch.matmul, (8, 16), (16,)),
    "dot": (torch.dot, (16,), (16,)),
    "bmm": (torch.bmm, (3, 8, 16), (3, 16, 4)),
    "baddbmm": (torch.baddbmm, (3, 8, 4), (3, 8, 16), (3, 16, 4)),
    "addbmm": (torch.addbmm, (8, 4), (3, 8, 16), (3, 16, 4)),
    "addmv": (torch.addmv, (8,), (8, 16), (16,)),
    "einsum": (lambda a, b: torch.einsum("bij,bjk->bik", a, b), (3, 8, 16), (3, 16, 4)),
    "einsum_4d": (lambda a, b: torch.einsum("bijl,lk->bijk", a, b), (2, 3, 8, 16), (16, 4)),
    "addmm_activation": (torch._addmm_activation, (4,), (8, 16), (16, 4)),
    "conv1d": (F.conv1d, (2, 3, 16), (4, 3, 3), (4,)),
    "conv2d": (lambda a, b, c: F.conv2d(a, b, c, padding=1), (2, 3, 16, 16), (4, 3, 3, 3), (4,)),
    "conv2d_same": (lambda a, b, c: F.conv2d(a, b, c, padding="same"), (2, 3, 16, 16), (4, 3, 4, 4), (4,)),
    "conv3d": (F.conv3d, (2, 3, 8, 8, 8), (4, 3, 3, 3, 3), (4,)),
    "transposed_1d": (F.conv_transpose1d, (2, 3, 16), (3, 4, 3), (4,)),
    "transposed_2d": (F.conv_transpose2d, (2, 3, 16, 16), (3, 4, 3, 3), (4,)),
    "transposed_3d": (F.conv_transpose3d, (2, 3, 8, 8, 8), (3, 4, 3, 3, 3), (4,)),
    "bilinear": (F.bilinear, (8, 5), (8, 6), (7, 5, 6), (7,)),
    "attention": (F.scaled_dot_product_attention, (2, 4, 8, 16), (2, 4, 8, 16), (2, 4, 8, 16)),
    "outer": (torch.outer, (16,), (4,)),
    "views": (lambda a: (
        a.view(4, -1), a.reshape(-1), a.t().reshape(-1), a.flatten(), a.unflatten(0, (2, 4)), a.squeeze(),
        a.unsqueeze(0).squeeze(0), a.unsqueeze(0).squeeze((0,)), a.expand(3, 8, 16), a.expand_as(a),
        a.movedim(0, 1), a.swapaxes(0, 1), a.T, a.mT, a.permute(1, 0), a.transpose(0, 1), a.detach(), a[1], a[:, 2:5],
        a[..., None], a.narrow(0, 0, 2), a.unfold(0, 2, 1), a.diagonal(), a.view_as(a), a.as_strided((2, 2), (1, 1)),
        a.view(torch.int32), a.view(torch.bfloat16), a.broadcast_to(2, 8, 16), torch.view_as_complex(a.view(8, 8, 2)),
    ), (8, 16)),
    "splits": (lambda a: (*a.split(3), *a.chunk(2), *a.split([2, 6]), *a.unbind(0), *a.tensor_split(3), *a.hsplit(2)),
               (8, 16)),
    "factories": (lambda a: (
        torch.empty(3, 4, device=a.device), torch.empty_like(a), a.new_empty(3), a.new_empty_strided((2,), (1,)),
        torch.empty_strided((2, 2), (2, 1), device=a.device), torch.zeros(3, device=a.device), torch.zeros_like(a),
        a.new_zeros(3), torch.ones(3, device=a.device), a.new_ones(2), torch.ones_like(a),
        torch.full((3,), 2.0, device=a.device), torch.full_like(a, 1.0), a.new_full((3,), 1.0),
        torch.arange(5, device=a.device), torch.arange(1, 5, device=a.device), torch.arange(1, 5, 2, device=a.device),
        torch.eye(3, device=a.device), torch.linspace(0, 1, 5, device=a.device),
        torch.empty(2, 3, 4, 4, device=a.device, memory_format=torch.channels_last)), (8, 16)),
    "fills_and_copies": (lambda a, b: (
        a.clone().fill_(1.0), a.clone().zero_(), torch.empty_like(a).copy_(b), a.clone().fill_(a[0, 0]),
        torch.cat([a, b]), torch.stack([a, b]), torch.hstack([a, b]), a.contiguous(), a.t().contiguous(),
        F.pad(a, (1, 1)), F.pad(a, (1, 1), value=2.0)), (8, 16), (8, 16)),
    "assignments": (assign, (8, 16), (8,)),
    "casts": (lambda a: (a.half(), a.to(torch.bfloat16), a.double(), a.to(torch.int32), a.type_as(a)), (8, 16)),
    "channels_last": (lambda a: (a.contiguous(memory_format=torch.channels_last),
                                 a.to(memory_format=torch.channels_last)), (2, 3, 8, 8)),
    "in_place": (lambda a, b: (a.clone().add_(b), a.clone().mul_(2.0), a.clone().relu_(), a.clone().clamp_(0, 1),
                               a.clone().sub_(b), a.clone().div_(b)), (8, 16), (8, 16)),
    "arithmetic": (lambda a, b: (
        a + b, a + 1, a - b, 1 - a, a * b, a * 2, a / b, a / 2, 1 / a, a // b, a % b, a**2, a**b, 2**a, -a, abs(a),
        a.rsqrt(), a.sqrt(), a.exp(), a.log(), a.log2(), a.log1p(), a.expm1(), a.square(), a.sin(), a.cos(), a.tan(),
        a.erf(), a.reciprocal(), a.sign(), a.floor(), a.ceil(), a.round(), a.trunc(), a.isnan(), a.isfinite(),
        a.maximum(b), a.minimum(b), torch.max(a, b), torch.addcmul(a, a, b), torch.addcdiv(a, a, b),
        torch.lerp(a, b, 0.5), torch.atan2(a, b), torch.fmod(a, b), torch.logaddexp(a, b)), (8, 16), (8, 16)),
    "comparisons": (lambda a, b: (
        a > b, a >= b, a < b, a <= b, a == b, a != b, a > 0, a >= 0, a < 0, a <= 0, a == 0, a != 0,
        (a > 0) & (b > 0), (a > 0) | (b > 0), ~(a > 0), (a > 0) ^ (b > 0), torch.logical_and(a, b),
        torch.where(a > 0, a, b), torch.where(a > 0, a, 0.0), torch.where(a > 0, 1.0, b), a.masked_fill(a > 0, 1.0),
        a.masked_fill(a > 0, a[0, 0]), a.clamp(0, 1), a.clamp(min=0), a.clamp(max=1.0), a.clamp(min=b)),
        (8, 16), (8, 16)),
    "reductions": (lambda a: (
        a.sum(), a.sum(0), a.sum(0, keepdim=True), a.mean(), a.mean(0), a.max(), a.min(), a.max(0), a.min(0), a.amax(0),
        a.amin(0), a.argmax(0), a.argmin(0), a.argmax(), a.prod(), a.prod(0), a.var(0), a.std(0),
        a.var(0, unbiased=False), torch.var_mean(a, 0), a.norm(), a.norm(dim=0), torch.linalg.norm(a),
        torch.linalg.vector_norm(a, dim=0), a.norm(p=1, dim=0), a.logsumexp(0), a.all(), a.any(), a.any(0), a.all(0),
        a.median(), torch.aminmax(a), a.count_nonzero(), a.dist(a), torch.trace(a[:8, :8])), (8, 16)),
    "scans_and_sorts": (lambda a: (a.cumsum(0), a.cumprod(0), a.sort(), a.argsort(), a.topk(2), a.cummax(0)), (8, 16)),
    "activations": (lambda a: (
        F.softmax(a, 1), F.log_softmax(a, 1), F.softmin(a, 1), F.relu(a), F.gelu(a), F.gelu(a, approximate="tanh"),
        F.silu(a), F.sigmoid(a), F.tanh(a), F.leaky_relu(a), F.elu(a), F.selu(a), F.softplus(a), F.softsign(a),
        F.hardtanh(a), F.hardswish(a), F.hardsigmoid(a), F.mish(a), F.relu6(a), F.logsigmoid(a), F.tanhshrink(a),
        F.softshrink(a), F.threshold(a, 0.0, 1.0), F.glu(a), F.celu(a), F.normalize(a),
        F.softmax(a, 1, dtype=torch.float32), F.prelu(a, a[0, :1])), (8, 16)),
    "normalizations": (lambda a, w, b, mean, var: (
        F.batch_norm(a, mean, var, w, b, training=False), F.layer_norm(a, (4, 8, 8)), F.group_norm(a, 2, w, b),
        F.instance_norm(a), F.local_response_norm(a, 2), F.rms_norm(a, (8,))), (2, 4, 8, 8), (4,), (4,), (4,), (4,)),
    "pooling": (lambda a: (
        F.max_pool2d(a, 2), F.avg_pool2d(a, 2), F.adaptive_avg_pool2d(a, 1), F.adaptive_avg_pool2d(a, 2),
        F.adaptive_max_pool2d(a, 2), F.max_pool1d(a[0], 2), F.avg_pool1d(a[0], 2), F.max_pool3d(a[None], 2),
        F.avg_pool3d(a[None], 2), F.adaptive_avg_pool1d(a[0], 2), F.adaptive_avg_pool3d(a[None], 2),
        F.lp_pool2d(a, 2.0, 2)), (2, 4, 8, 8)),
    "resampling": (lambda a: (
        F.interpolate(a, scale_factor=2), F.interpolate(a, scale_factor=2, mode="bilinear"),
        F.interpolate(a, scale_factor=2, mode="bicubic"), F.pixel_shuffle(a, 2), F.pixel_unshuffle(a, 2),
        F.unfold(a, 2), F.fold(F.unfold(a, 2), (8, 8), 2), F.channel_shuffle(a, 2)), (2, 4, 8, 8)),
    "losses": (lambda a, b: (
        F.mse_loss(a, b), F.l1_loss(a, b), F.smooth_l1_loss(a, b), F.huber_loss(a, b), F.kl_div(a, b),
        F.binary_cross_entropy(a.sigmoid(), b.sigmoid()), F.binary_cross_entropy_with_logits(a, b.sigmoid()),
        F.cross_entropy(a, b.softmax(1)), F.cosine_similarity(a, b), F.pairwise_distance(a, b), torch.cdist(a, b),
        F.hinge_embedding_loss(a, b), F.triplet_margin_loss(a, b, b)), (8, 16), (8, 16)),
    "indexing": (lambda a, i: (
        a[i], a[:, i], a.index_select(0, i), a.gather(0, i[:, None]), F.embedding(i, a), a.take(i),
        torch.take_along_dim(a, i[:, None], 0), a.index_add(0, i, a[:4]), a.scatter(0, i[:, None], a[:4, :1]),
        a.scatter_add(0, i[:, None], a[:4, :1]), F.one_hot(i, 8), F.cross_entropy(a[:4], i), F.nll_loss(a[:4], i),
        a.index_fill(0, i, 1.0)), (8, 16), "index"),
    "shapes": (lambda a: (
        a.tril(), a.triu(), a.repeat(2, 2), a.tile(2), a.repeat_interleave(2, 0), a.roll(1, 0), a.flip(0), a.rot90(),
        torch.meshgrid(a[0], a[1], indexing="ij"), torch.kron(a, a), torch.block_diag(a, a), torch.diag_embed(a[0]),
        F.pad(a[None], (1, 1), mode="reflect"), F.pad(a[None], (1, 1), mode="replicate"), torch.nan_to_num(a)), (8, 16)),
}
