"""Attention of a tuning against torch's own operations."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from core.encoders.packed.attention import attend_dropping
from core.encoders.packed.dropout import draw_kept, scale_of
from core.encoders.packed.layout import Layout, lay_out

HEADS, WIDTH = 4, 32
LENGTHS = [2, 2, 3, 7, 8, 20, 20]


def by_text(qkv: Tensor, layout: Layout, masks: list[Tensor]) -> Tensor:
    """Attend by torch, one text after the other, where `masks` has each one's scaled mask."""
    rows, place = [], 0
    for length, mask in zip(layout.lengths.tolist(), masks, strict=True):
        own = qkv[place : place + length].float().view(length, 3, HEADS, -1)
        query, key, value = own.permute(1, 2, 0, 3)
        shares = (query @ key.mT / (WIDTH / HEADS) ** 0.5).softmax(-1) * mask
        rows.append((shares @ value).transpose(0, 1).reshape(length, WIDTH))
        place += length
    rows.append(qkv.new_zeros(layout.spare, WIDTH).float())
    return torch.cat(rows)


def masks_of(layout: Layout, kept: Tensor, scale: float) -> list[Tensor]:
    found, place = [], 0
    lengths = iter(layout.lengths.tolist())
    for group in layout.groups:
        for _ in range(group.n_texts):
            size = HEADS * group.longest**2
            grid = kept[place : place + size].view(HEADS, group.longest, group.longest)
            length = next(lengths)
            found.append(grid[:, :length, :length] * scale)
            place += size
    return found


@pytest.mark.parametrize(("form", "near"), [(torch.float32, 1e-5), (torch.bfloat16, 3e-2)])
@pytest.mark.parametrize("dropped", [0.0, 0.3])
def test_attention_and_its_gradients_equal_those_of_torch(
    form: torch.dtype, near: float, dropped: float
) -> None:
    torch.manual_seed(0)
    layout = replace(lay_out(torch.tensor(LENGTHS), 16), random=np.random.default_rng(1))
    assert any(group.mask is not None for group in layout.groups)
    assert layout.spare
    count = sum(HEADS * group.n_texts * group.longest**2 for group in layout.groups)
    kept = draw_kept(count, dropped, np.random.default_rng(1))
    qkv = torch.randn(sum(LENGTHS) + layout.spare, 3 * WIDTH).to(form).requires_grad_()
    found = attend_dropping(qkv, layout, HEADS, dropped)
    exact = by_text(qkv, layout, masks_of(layout, kept, scale_of(dropped)))
    assert found.dtype == form
    torch.testing.assert_close(found.float(), exact, atol=near, rtol=near)
    back = torch.randn_like(exact)
    (own,) = torch.autograd.grad((found.float() * back).sum(), qkv)
    (torchs,) = torch.autograd.grad((exact * back).sum(), qkv)
    torch.testing.assert_close(own, torchs, atol=near, rtol=near)


def test_without_dropout_it_is_torchs_attention() -> None:
    layout = lay_out(torch.tensor([5, 5, 5]))
    qkv = torch.randn(15, 3 * WIDTH)
    query, key, value = qkv.view(3, 5, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
    exact = F.scaled_dot_product_attention(query, key, value).transpose(1, 2).reshape(15, WIDTH)
    torch.testing.assert_close(attend_dropping(qkv, layout, HEADS, 0.0), exact)


def test_products_stay_in_float32_under_autocast() -> None:
    """oneDNN would compile a routine in bfloat16 for the sizes of each group."""
    layout = lay_out(torch.tensor([5, 5, 5]))
    qkv = torch.randn(15, 3 * WIDTH)
    exact = attend_dropping(qkv, layout, HEADS, 0.0)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(attend_dropping(qkv, layout, HEADS, 0.0), exact)


def test_masks_follow_the_layouts_generator_alone() -> None:
    layout, qkv = lay_out(torch.tensor([5, 5, 5])), torch.randn(15, 3 * WIDTH)
    seeded = [
        attend_dropping(qkv, replace(layout, random=np.random.default_rng(2)), HEADS, 0.5)
        for _ in range(2)
    ]
    assert torch.equal(*seeded)
    torch.manual_seed(0)
    first, second = (attend_dropping(qkv, layout, HEADS, 0.5) for _ in range(2))
    torch.manual_seed(0)
    assert torch.equal(attend_dropping(qkv, layout, HEADS, 0.5), first)
    assert not torch.equal(first, second)
