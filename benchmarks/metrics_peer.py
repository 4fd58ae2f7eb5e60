"""Times the metrics of piq or pyiqa for metrics.py; runs in an interpreter that has torch."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable

import numpy as np
import torch

# pyiqa's SSIM takes 15 s, so slow that one round is enough.
ROUNDS = {"piq": 2, "pyiqa": 1}
LUMA = (0.298936021293775, 0.587043074451121, 0.114020904255103)


def main() -> None:
    torch.set_num_threads(1)
    rounds = ROUNDS[sys.argv[1]]
    # Output of the libraries while loading must not be parsed as times.
    with contextlib.redirect_stdout(sys.stderr):
        metrics = load_piq() if sys.argv[1] == "piq" else load_pyiqa()
        warm_up(metrics)
    for line in sys.stdin:
        image, reference = (to_tensor(pixels) for pixels in np.load(line.strip()))
        seconds = {name: time_metric(metric, image, reference, rounds) for name, metric in metrics.items()}
        print(json.dumps(seconds), flush=True)


def to_tensor(bgr: np.ndarray) -> torch.Tensor:
    """1 × 3 × height × width, 0..1, as both libraries expect."""
    return torch.from_numpy(np.ascontiguousarray(bgr[..., ::-1].transpose(2, 0, 1))).float()[None] / 255


def warm_up(metrics: dict[str, Callable[..., torch.Tensor]]) -> None:
    """Runs on a small image, so that one-time set-up is not counted."""
    small = torch.rand(1, 3, 256, 256, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        for metric in metrics.values():
            metric(small, small * 0.9)


def time_metric(
    metric: Callable[..., torch.Tensor], image: torch.Tensor, reference: torch.Tensor, rounds: int
) -> float:
    times = []
    with torch.no_grad():
        for _ in range(rounds):
            started = time.process_time()
            metric(image, reference)
            times.append(time.process_time() - started)
    return min(times)


def load_piq() -> dict[str, Callable[..., torch.Tensor]]:
    import piq

    def on_luma(metric: Callable[..., torch.Tensor], **options: object) -> Callable[..., torch.Tensor]:
        """The conversion to luma is part of our times, so it is part of theirs."""
        return lambda x, y: metric(*(sum(w * t[:, i : i + 1] for i, w in enumerate(LUMA)) for t in (x, y)), **options)

    return {
        "PSNR": piq.psnr,
        "SSIM": on_luma(piq.ssim, downsample=False),
        "MS-SSIM": on_luma(piq.multi_scale_ssim),
        "VIFp": on_luma(piq.vif_p),
        # Takes colour and converts it itself: three times as slow as with luma.
        "GMSD": piq.gmsd,
        "GMSD on luma": on_luma(piq.gmsd),
        "HaarPSI": piq.haarpsi,
        "VSI": piq.vsi,
        "FSIM": piq.fsim,
        "MDSI": piq.mdsi,
    }


def load_pyiqa() -> dict[str, Callable[..., torch.Tensor]]:
    import pyiqa

    names = {"PSNR": "psnr", "SSIM": "ssim", "MS-SSIM": "ms_ssim", "GMSD": "gmsd", "VSI": "vsi", "FSIM": "fsim"}
    return {name: pyiqa.create_metric(metric, device="cpu") for name, metric in names.items()}


if __name__ == "__main__":
    main()
