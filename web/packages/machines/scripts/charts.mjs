// Copies the charts of the Python package; `tests/web/test_machines_package.py` checks that they are equal.
import { copyFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const source = new URL('../../../../src/antiphon/threads/machine/', import.meta.url);
for (const name of ['streaming', 'thread']) {
  copyFileSync(new URL(`${name}.json`, source), fileURLToPath(new URL(`../src/charts/${name}.json`, import.meta.url)));
}
