"""`python -m iqa_sidecar.networks [name …]`: builds the networks' ONNX files; a step of set-up."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .catalogue import NETWORKS, Network, model_folders


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m iqa_sidecar.networks", description=__doc__)
    parser.add_argument(
        "further",
        nargs="*",
        choices=[[], *(network.name for network in NETWORKS if not network.by_default)],
        help="large networks to make as well",
    )
    further = parser.parse_args().further
    wanted = [network for network in NETWORKS if network.by_default or network.name in further]
    missing = [network for network in wanted if not network.file.exists()]
    if not missing:
        return 0
    # Imported only if something must be built: needs onnx and a network connection.
    from .building.build import build_network
    from .building.download import DownloadError, fetch_weights

    try:
        weights = fetch_weights(file for network in missing for file in network.weights)
        for network in missing:
            _save(network, build_network(network, weights))
    except (DownloadError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _save(network: Network, data: bytes) -> None:
    """Writes atomically, because another process may read the file at any time."""
    folder = model_folders()[0]
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = Path(f"{network.file}.part")
    unfinished.write_bytes(data)
    unfinished.replace(network.file)
    for outdated in folder.glob(f"{network.name}-[0-9]*.onnx"):
        if outdated != network.file:
            outdated.unlink()


if __name__ == "__main__":
    sys.exit(main())
