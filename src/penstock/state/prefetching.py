"""Fetching ahead: memory that a loop will read soon is asked for before it is needed.

State of a million rows does not fit into the caches, and a loop that follows a hash or a chain
waits for memory at every row. The rows of a block are known in advance, so the loop can ask for
what a later row needs while it works on this one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

if TYPE_CHECKING:
    from collections.abc import Callable

NEAR, FAR = 8, 16
"""The number of rows to ask ahead: for what is read directly, and for what leads there."""

_FOR_READING, _KEEP, _DATA = 0, 3, 1


def _fetch(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Emit the processor's instruction; it never fails, whatever the address."""
    kind = signature.args[0]
    array = context.make_array(kind)(context, builder, arguments[0])
    zero = ir.Constant(ir.IntType(64), 0)
    places = [arguments[1], *[zero] * (kind.ndim - 1)]
    point: Any = cgutils.get_item_pointer
    item = point(context, builder, kind, array, places, wraparound=False)
    address = builder.bitcast(item, ir.IntType(8).as_pointer())
    number = ir.IntType(32)
    shape = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
    insert: Any = cgutils.get_or_insert_function
    instruction = insert(builder.module, shape, "llvm.prefetch.p0")
    hints = [ir.Constant(number, hint) for hint in (_FOR_READING, _KEEP, _DATA)]
    builder.call(instruction, [address, *hints])
    return context.get_dummy_value()


@intrinsic
def _prefetch(_typing: Any, array: Any, _index: Any) -> tuple[Any, Callable[..., Any]]:
    return types.void(array, types.int64), _fetch


prefetch: Callable[[Any, Any], None] = cast("Any", _prefetch)
"""Ask for the entry (of a table: the row) of an array; to be called in compiled loops."""
