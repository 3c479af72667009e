/** Licences of the packages in the built app, in one file beside it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

const MODULES = join(import.meta.dirname, 'node_modules');
const FILES = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license'];
const RULE = '-'.repeat(80);

interface Manifest {
  version: string;
  license?: string;
  dependencies?: Record<string, string>;
}

function manifestOf(name: string): Manifest {
  return JSON.parse(readFileSync(join(MODULES, name, 'package.json'), 'utf8')) as Manifest;
}

/** Return the packages that the app depends on, also by others; those of this repository have its own licence. */
function packagesOf(names: string[], known = new Set<string>()): string[] {
  for (const name of names) {
    if (known.has(name) || !existsSync(join(MODULES, name, 'package.json'))) continue;
    known.add(name);
    packagesOf(Object.keys(manifestOf(name).dependencies ?? {}), known);
  }
  return [...known].filter((name) => !name.startsWith('@antiphon/')).toSorted();
}

function licenseOf(name: string): string {
  const { version, license } = manifestOf(name);
  const file = FILES.map((each) => join(MODULES, name, each)).find((path) => existsSync(path));
  if (file === undefined) throw new Error(`${name} has no file with its licence`);
  return `${name} ${version} (${license})\n${RULE}\n${readFileSync(file, 'utf8').replaceAll('\r\n', '\n').trim()}\n`;
}

/** Plugin that writes `assets/licenses.txt`. */
export function licenses(dependencies: string[]): Plugin {
  return {
    name: 'licenses',
    apply: 'build',
    generateBundle() {
      const source = packagesOf(dependencies).map(licenseOf).join(`\n${RULE}\n`);
      this.emitFile({ type: 'asset', fileName: 'assets/licenses.txt', source });
    },
  };
}
