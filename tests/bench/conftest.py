"""The programs of `bench/` import their parts by their own names."""

import sys

from tests.paths import ROOT

sys.path.append(str(ROOT / "bench"))
