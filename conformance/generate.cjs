'use strict';
/* Random charts with event scripts, as JSON lines in the forms of oracle.cjs.
 *
 *   node generate.cjs COUNT [SEED] [--profile core|actors|mixture|persist|all]
 *
 * Chart number i of a run is made from SEED + i alone, so any chart can be made again by itself.
 */
const { core } = require('./charts/core.cjs');
const { extended, NAMES } = require('./charts/extended.cjs');

const PROFILES = { core };
for (const name of NAMES) PROFILES[name] = (seed) => extended(name, seed);
const MIXED = Object.values(PROFILES);
PROFILES.all = (seed) => MIXED[seed % MIXED.length](seed);

function fail(message) {
  process.stderr.write(`${message}\nusage: node generate.cjs COUNT [SEED] [--profile ${Object.keys(PROFILES).join('|')}]\n`);
  process.exit(2);
}

function parse(args) {
  const at = args.indexOf('--profile');
  const [, profile = 'all'] = at < 0 ? [] : args.splice(at, 2);
  const [count, seed] = [Number(args[0]), Number(args[1] ?? 1)];
  if (!(profile in PROFILES)) fail(`unknown profile ${profile}`);
  if (!Number.isInteger(count) || !Number.isInteger(seed) || seed < 0 || args.length > 2) fail('COUNT and SEED must be whole numbers');
  return { count, seed, profile };
}

const { count, seed, profile } = parse(process.argv.slice(2));
for (let i = 0; i < count; i++) process.stdout.write(JSON.stringify(PROFILES[profile](seed + i)) + '\n');
