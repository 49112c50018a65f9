# SPDX-License-Identifier: Apache-2.0
"""Small things that candidates need besides kernels."""
from kagent import session


def cdiv(a, b):
    """a / b rounded up, for grid sizes."""
    return -(-a // b)


def tune(name, *values):
    """Declares a tunable integer and returns the value in force: the first, unless a sweep chooses another.

    Use it for a grid, a block or a macro: options=[f"-DBLOCK={BLOCK}"].
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"kagent.tune: the name must be an identifier, not {name!r}")
    if not values or not all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        raise ValueError(f"kagent.tune({name!r}, …): give one or more integers")
    return session.current().tune(name, values)


def prepare(model):
    """Runs model.prepare() and stores what it returns as model.prepared; for use outside of kagent.

    Call it after the weights are loaded and moved, and again when they change. Returns the model.
    """
    import torch
    if hasattr(model, "prepare"):
        with torch.no_grad():
            prepared = model.prepare()
        if not isinstance(prepared, dict):
            raise TypeError("prepare() must return a dict from names to tensors")
        model.__dict__["prepared"] = prepared
    return model
