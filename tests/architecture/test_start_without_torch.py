"""Pages open, labels save and `--help` answers before torch is loaded."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from storage.database import open_database

HEAVY = ("torch", "transformers", "sentence_transformers", "sklearn", "gradio")


@pytest.mark.parametrize("module", ["app.cli", "storage.database", "app.jobs.supervisor"])
def test_importing_does_not_load_heavy_libraries(module: str) -> None:
    script = f"import sys, {module}; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_home_that_is_up_to_date_is_opened_without_alembic(tmp_path: Path) -> None:
    """It costs each of a job's two processes a quarter of the time of its start."""
    open_database(tmp_path / "studio.db").close()
    script = (
        "import sys; from pathlib import Path; from storage.database import open_database; "
        "open_database(Path(sys.argv[1])).close(); print('alembic' in sys.modules)"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "studio.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_server_opens_its_first_page_before_torch_is_loaded() -> None:
    """Two of the five seconds to the first page went into libraries that no page needs."""
    heavy = (*HEAVY, "scipy.stats", "scipy.optimize")
    script = f"import sys, app.server; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_models_train_and_answer_without_the_largest_libraries() -> None:
    """Each training spent eight seconds on importing sentence-transformers, and used none of it."""
    large = ("sentence_transformers", "transformers", "peft", "sklearn", "scipy.stats", "pandas")
    modules = "app.services.training.runs, app.services.training.encoder_runs, core.responses"
    script = f"import sys, {modules}; print([m for m in {large!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_silhouette_needs_no_library_but_numpy() -> None:
    """Each training loaded scikit-learn, scipy.stats and pandas for it: 1.7 of its four seconds."""
    script = (
        "import sys, numpy as np; from core.metrics.geometry import silhouette; "
        "silhouette(np.eye(4, dtype=np.float32), list('aabb')); "
        "print([m for m in ('sklearn', 'scipy', 'pandas', 'torch') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_threads_without_work_are_told_to_sleep_before_numpy_is_loaded(tmp_path: Path) -> None:
    """Waiting at full speed they held the cores on which others were to compute."""
    ours = {"OPENBLAS_THREAD_TIMEOUT": "4", "GOMP_SPINCOUNT": "10000"}
    script = (
        "import os, sys, app.cli; early = 'numpy' not in sys.modules; app.cli.main(sys.argv[1:]); "
        f"print(early, *map(os.environ.get, {tuple(ours)}))"
    )
    found = []
    for own in ({}, dict.fromkeys(ours, "26"), {"OMP_WAIT_POLICY": "ACTIVE"}):
        environment = {k: v for k, v in os.environ.items() if k not in ours} | own
        command = [sys.executable, "-c", script, "--home", str(tmp_path), "projects"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        found.append(done.stdout.splitlines()[-1])
    # OpenMP's threads wait for whoever chose that they do, and OpenBLAS's are no part of them.
    assert found == ["True 4 10000", "True 26 26", "True 4 None"]
