"""Information content of each pixel of a band in the model of IW-SSIM: a Gaussian scale mixture with noise."""

import cv2
import numpy as np
from numpy.typing import NDArray

from ...imaging.image import Plane
from ...imaging.tiling import split_rows

# Variance of the visual noise in the paper's model.
_NOISE = 0.4
_TINY = np.float32(1e-12)


def find_information(image: Plane, reference: Plane, parent: Plane | None, margin: int) -> Plane:
    """In bits, without a margin on each side."""
    gain, residual = _estimate_channel(image, reference)
    coarse = None if parent is None else _enlarge(parent)[: reference.shape[0], : reference.shape[1]]
    eigenvalues, vectors = np.linalg.eigh(_covariance(reference, coarse))
    known = eigenvalues > max(0.0, eigenvalues[-1] * 1e-9)
    scale = eigenvalues.sum() / eigenvalues[known].sum() if known.any() else 0.0
    dimensions = len(eigenvalues)
    eigenvalues, vectors = eigenvalues[known] * scale, vectors[:, known]
    whiten = np.asarray((vectors / np.sqrt(eigenvalues)).T, np.float32)
    height, width = (side - 2 * margin for side in reference.shape)
    information = np.zeros((height, width), np.float32)
    for rows in split_rows(height, width):
        around = slice(rows.start + margin, rows.stop + margin), slice(margin, margin + width)
        neighbours = whiten @ _neighbours(reference, coarse, *around)
        field = np.einsum("ij,ij->j", neighbours, neighbours).reshape(-1, width) / np.float32(dimensions)
        noisy = residual[around] / np.float32(_NOISE)
        signal = noisy + np.square(gain[around]) + 1
        signal *= field
        noisy += 1
        for eigenvalue in eigenvalues:
            information[rows] += np.log2(noisy + signal * np.float32(eigenvalue / _NOISE))
    return information


def _estimate_channel(image: Plane, reference: Plane) -> tuple[Plane, Plane]:
    """Gain and residual variance that turn the reference into the image, over 3 × 3 pixels."""
    mean, other_mean = _average(image), _average(reference)
    variance = np.maximum(_average(image * image) - mean * mean, 0)
    other_variance = np.maximum(_average(reference * reference) - other_mean * other_mean, 0)
    covariance = _average(image * reference) - mean * other_mean
    known = (other_variance > _TINY) & (variance > _TINY)
    gain = np.divide(covariance, other_variance, out=np.zeros_like(covariance), where=known)
    return gain, np.maximum(variance - gain * covariance, 0)


def _average(plane: Plane) -> Plane:
    return np.asarray(cv2.boxFilter(plane, -1, (3, 3), borderType=cv2.BORDER_CONSTANT), np.float32)


def _covariance(reference: Plane, coarse: Plane | None) -> NDArray[np.float64]:
    """Covariance of the neighbourhoods. In float32 a few rows at a time, summed in float64."""
    height, width = reference.shape
    total: NDArray[np.float64] = np.zeros(())
    for rows in split_rows(height - 2, width):
        vectors = _neighbours(reference, coarse, slice(rows.start + 1, rows.stop + 1), slice(1, width - 1))
        total = total + vectors @ vectors.T
    return np.asarray(total / ((height - 2) * (width - 2)), np.float64)


def _neighbours(reference: Plane, coarse: Plane | None, rows: slice, columns: slice) -> Plane:
    """The 3 × 3 neighbourhood and the parent in the coarser band, one row each."""
    parts = [
        reference[rows.start + down : rows.stop + down, columns.start + across : columns.stop + across].ravel()
        for down in (-1, 0, 1)
        for across in (-1, 0, 1)
    ]
    return np.stack(parts if coarse is None else [*parts, coarse[rows, columns].ravel()])


def _enlarge(plane: Plane) -> Plane:
    """To twice the size as the authors do: to four times with linear extrapolation, then every second pixel."""
    height, width = plane.shape
    inner = cv2.resize(plane, (4 * width - 3, 4 * height - 3), interpolation=cv2.INTER_LINEAR)
    large = np.empty((4 * height - 1, 4 * width - 1), np.float32)
    large[1:-1, 1:-1] = inner
    for edge, first, second in ((0, 1, 2), (-1, -2, -3)):
        large[edge, 1:-1] = 2 * large[first, 1:-1] - large[second, 1:-1]
    for edge, first, second in ((0, 1, 2), (-1, -2, -3)):
        large[:, edge] = 2 * large[:, first] - large[:, second]
    return np.ascontiguousarray(large[::2, ::2])
