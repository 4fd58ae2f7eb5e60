"""Decoding: formats, limits checked before decoding, JPEG quality, and read-only pixels."""

import struct

import cv2
import numpy as np
import pytest

from iqa_sidecar.imaging.image import Image, Pair, TooManyPixelsError, UndecodableError, halve

from .. import images
from ..metrics import oracles

MAX_PIXELS = 10_000_000


def encode(suffix: str, pixels: np.ndarray[tuple[int, ...], np.dtype[np.uint8]], *options: int) -> bytes:
    _done, data = cv2.imencode(suffix, pixels, options)
    return bytes(data.tobytes())


PHOTO = images.photo(1, 60, 90)
FILES = {
    "png": encode(".png", PHOTO),
    "jpeg": encode(".jpg", PHOTO),
    "progressive": encode(".jpg", PHOTO, cv2.IMWRITE_JPEG_PROGRESSIVE, 1),
    "webp": encode(".webp", PHOTO, cv2.IMWRITE_WEBP_QUALITY, 80),
    "lossless webp": encode(".webp", PHOTO, cv2.IMWRITE_WEBP_QUALITY, 101),
    "webp with alpha": encode(".webp", np.dstack([PHOTO, PHOTO[..., 0]]), cv2.IMWRITE_WEBP_QUALITY, 80),
}


@pytest.mark.parametrize("kind", FILES)
def test_reads_each_format(kind: str) -> None:
    image = Image.decode(FILES[kind], MAX_PIXELS)
    assert (image.width, image.height, image.channels) == (90, 60, 3)
    assert image.bgr.shape == (60, 90, 3)
    assert np.abs(image.bgr.astype(int) - PHOTO).mean() < 8
    assert Image.decode(bytearray(FILES[kind]), MAX_PIXELS).width == 90


def test_png_pixels_are_exact() -> None:
    assert (Image.decode(FILES["png"], MAX_PIXELS).bgr == PHOTO).all()


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
def test_gray_becomes_three_equal_channels(suffix: str) -> None:
    data = encode(suffix, PHOTO[..., 0])
    image = Image.decode(data, MAX_PIXELS)
    assert image.channels == 1
    assert (image.bgr == cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)).all()
    assert (image.crop((3, 4, 20, 30)).bgr == image.bgr[4:34, 3:23]).all()


def test_sixteen_bits_of_gray_are_read_as_sixteen_bits_of_colour_are() -> None:
    levels = np.random.default_rng(1).integers(0, 2**16, (60, 90), dtype=np.uint16)
    _done, data = cv2.imencode(".png", levels)
    assert (Image.decode(data.tobytes(), MAX_PIXELS).bgr == cv2.imdecode(data, cv2.IMREAD_COLOR)).all()


@pytest.mark.parametrize("quality", [1, 10, 35, 50, 75, 90, 95, 100])
def test_the_jpeg_quality_is_read_from_the_tables(quality: int) -> None:
    image = Image.decode(images.jpeg_file(PHOTO, quality), MAX_PIXELS)
    assert image.jpeg_quality == quality
    assert image.crop((0, 0, 20, 20)).jpeg_quality == quality
    assert Image.decode(FILES["png"], MAX_PIXELS).jpeg_quality is None


@pytest.mark.parametrize("kind", FILES)
def test_too_many_pixels_are_refused_by_the_header(kind: str) -> None:
    with pytest.raises(TooManyPixelsError, match="90 × 60"):
        Image.decode(FILES[kind], 90 * 60 - 1)


def test_a_bomb_is_refused_without_decoding() -> None:
    header = FILES["png"][:16] + struct.pack(">II", 60_000, 60_000) + FILES["png"][24:]
    with pytest.raises(TooManyPixelsError):
        Image.decode(header, MAX_PIXELS)


BROKEN = {
    "empty": b"",
    "text": b"hello, world, this is text",
    "gif": b"GIF89a\x01\x00\x01\x00\x00\x00\x00;",
    "bmp": encode(".bmp", PHOTO),
    "png magic only": FILES["png"][:8],
    "jpeg magic only": FILES["jpeg"][:3],
    "jpeg without frame": b"\xff\xd8\xff\xe0\x00\x02\xff\xd9",
    "jpeg with a hole": FILES["jpeg"][:20] + b"\x00" * 40,
    "webp of sound": b"RIFF\x10\x00\x00\x00WEBPWAVE" + b"\x00" * 20,
    "no width": FILES["png"][:16] + struct.pack(">II", 0, 60) + FILES["png"][24:],
    "another width": FILES["png"][:16] + struct.pack(">II", 91, 60) + FILES["png"][24:],
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_files_are_undecodable(kind: str) -> None:
    with pytest.raises(UndecodableError):
        Image.decode(BROKEN[kind], MAX_PIXELS)


@pytest.mark.parametrize("kind", FILES)
def test_every_truncation_is_decoded_or_refused(kind: str) -> None:
    for length in range(0, len(FILES[kind]), 97):
        try:
            image = Image.decode(FILES[kind][:length], MAX_PIXELS)
        except UndecodableError:
            continue
        assert image.bgr.shape == (60, 90, 3)


def test_thousands_of_scans_are_refused_by_the_header() -> None:
    progressive = FILES["progressive"]
    assert Image.decode(progressive, MAX_PIXELS).width == 90
    last_scan = progressive[progressive.rindex(b"\xff\xda") : -2]
    with pytest.raises(UndecodableError, match="at most 100 scans"):
        Image.decode(progressive[:-2] + 200 * last_scan + progressive[-2:], MAX_PIXELS)


def test_views_cannot_be_written() -> None:
    for image in (Image(PHOTO), Image(PHOTO[..., 0])):
        for view in (image.bgr, image.luma, image.luma_bytes, image.half_luma):
            with pytest.raises(ValueError, match="read-only"):
                view[0, 0] = 0
        assert image.luma is image.luma


def test_crops() -> None:
    pair = Pair(Image(PHOTO), Image(images.blur(PHOTO, 1)))
    part = pair.crop((10, 5, 30, 20))
    assert part.reference is not None
    assert (part.image.bgr == PHOTO[5:25, 10:40]).all()
    assert (part.reference.width, part.reference.height) == (30, 20)
    assert pair.image.crop((0, 0, 90, 60)) is pair.image
    assert Pair(pair.image).crop((0, 0, 8, 8)).reference is None


def test_luma_is_that_of_rgb2gray() -> None:
    assert (Image(PHOTO).luma == oracles.luma(PHOTO)).all()


def test_the_luma_of_a_gray_file_is_its_only_channel() -> None:
    levels = np.arange(256, dtype=np.uint8).reshape(16, 16)
    equal = np.repeat(levels[..., None], 3, axis=2)
    assert np.array_equal(Image(levels).luma_bytes, levels)
    assert np.array_equal(Image(equal).luma_bytes, levels)


def test_halving_repeats_an_odd_last_row() -> None:
    plane = np.array([[0, 4, 8], [0, 4, 8], [2, 6, 10]], np.float32)
    assert halve(plane).tolist() == [[2, 8], [4, 10]]
