"""`python -m antiphon` is the command `antiphon`."""

import sys

from antiphon.cli.main import main

sys.exit(main())
