"""Where compiled functions of the cell are kept between processes."""

from ..arm.physics.cache import cache_folder

COMPILED = cache_folder() / "cell"
COMPILED.mkdir(mode=0o700, exist_ok=True)
