'use strict';
/* A chart of an extended profile: a machine, its actors and its script. */
const { Random } = require('./random.cjs');
const { Machine } = require('./machine.cjs');
const { Script } = require('./script.cjs');
const { SPAWNED } = require('./events.cjs');
const { SETTINGS } = require('./profiles.cjs');

const NAMES = Object.keys(SETTINGS);

function extended(profile, seed) {
  const random = new Random(seed * 7919 + 104729 * (1 + NAMES.indexOf(profile)));
  const world = { random, settings: SETTINGS[profile], systemIds: ['sys:none', ...SPAWNED.map((id) => 'sys:' + id)] };
  const machine = new Machine(world, 'm', 0);
  const spec = { id: `${profile}-${seed}`, ...machine.spec(), input: { x: random.below(3) } };
  spec.steps = new Script(machine).steps();
  if (random.chance(0.04)) {
    spec.options = { noStart: true };
    const early = spec.steps.findIndex((step) => 'stop' in step || 'start' in step);
    spec.steps.splice(Math.min(random.below(3), early < 0 ? 3 : early), 0, { start: 1 });
  }
  return spec;
}

module.exports = { extended, NAMES };
