"""The loop that copies strings out of a heap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.state.compiled import compiled

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from penstock.state.arrays import Ints


@compiled
def copy_texts(
    heap: npt.NDArray[np.uint8], sources: Ints, starts: Ints, content: npt.NDArray[np.uint8]
) -> None:
    """Copy each string from its source in the heap to its start in the content."""
    for row in range(len(sources)):
        source = sources[row]
        target = starts[row]
        for place in range(starts[row + 1] - target):
            content[target + place] = heap[source + place]
