"""A camera's intrinsics and extrinsics: what a pixel sees, for lenses as calibrations describe them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.errors import UsageError
from memento.extensions.cell.cell_file import CameraPart
from memento.extensions.cell.lens import distorted, looking, pixel_rays
from memento.extensions.cell.ports import Lens

SMALL = st.floats(-0.1, 0.1)


def test_without_a_principal_point_it_is_the_middle() -> None:
    plain = pixel_rays(Lens(width=6, height=4, focal_px=5.0))
    assert np.array_equal(plain, pixel_rays(Lens(width=6, height=4, focal_px=5.0, centre_px=(2.5, 1.5))))
    assert np.array_equal(plain[0, 0], [-0.5, -0.3, 1.0]) and np.array_equal(plain[..., 2], np.ones((4, 6)))


@given(st.tuples(SMALL, SMALL, st.floats(-0.01, 0.01), st.floats(-0.01, 0.01), SMALL))
def test_a_ray_is_seen_at_its_pixel(coefficients: tuple[float, ...]) -> None:
    lens = Lens(width=64, height=48, focal_px=60.0, focal_y_px=61.0, centre_px=(30.2, 25.7), distortion=coefficients)
    seen = distorted(pixel_rays(lens)[..., :2], coefficients) * (60.0, 61.0) + (30.2, 25.7)
    rows, columns = np.mgrid[:48, :64]
    assert np.abs(seen - np.stack([columns, rows], axis=-1)).max() < 0.01


@pytest.mark.parametrize(("coefficients", "words"), [
    ((0.1, 0.2), "five coefficients of distortion, k1, k2, p1, p2 and k3, not 2"),
    ((-9.0, 0.0, 0.0, 0.0, 0.0), "cannot be removed: rectify the images"),
])
def test_a_lens_that_cannot_be_undone_is_refused(coefficients: tuple[float, ...], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        pixel_rays(Lens(width=64, height=48, focal_px=30.0, distortion=coefficients))


def test_extrinsics_are_a_matrix_or_a_place_to_look_at() -> None:
    by_words = CameraPart(roll_rad=0.2).stands
    whole = np.eye(4)
    whole[:3, :3], whole[:3, 3] = by_words.rotation.round(5), by_words.position
    stands = CameraPart.model_validate({"pose": whole.tolist()}).stands
    assert np.allclose(stands.rotation, by_words.rotation, atol=1e-4)
    assert np.allclose(stands.rotation @ stands.rotation.T, np.eye(3), atol=1e-12)
    assert np.allclose(stands.position, looking(*map(np.array, ((0.75, 0.0, 1.5), (0.03, 0.0, 0.86)))).position)
    for wrong in (np.diag([1.0, 1.0, -1.0, 1.0]), 2 * np.eye(4)):
        with pytest.raises(ValueError, match="four rows of a rotation and a place in metres"):
            CameraPart.model_validate({"pose": wrong.tolist()})
