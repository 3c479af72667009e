'use strict';
/* The actors a machine may invoke or spawn. */
const { EVENTS, MESSAGES } = require('./events.cjs');

const MAX_LEVEL = 2;

function promise(random) {
  const actor = { kind: 'promise' };
  if (random.chance(0.5)) actor.resolve = random.between(1, 5);
  else if (random.chance(0.5)) actor.reject = 'rejected';
  if (random.chance(0.6)) actor.log = true;
  return actor;
}

function callback(random, name) {
  const actor = { kind: 'callback', name };
  if (random.chance(0.4)) actor.sendBack = random.pick([{ type: 'c.0', v: 1 }, [{ type: 'c.0', v: 1 }, { type: 'c.1', v: 2 }]]);
  if (random.chance(0.4)) actor.echo = random.pick(MESSAGES);
  if (random.chance(0.1)) actor.emit = { type: 'm' };
  if (random.chance(0.08)) actor.throwOnStart = 'cannot start';
  return actor;
}

function reducer(random) {
  const reactions = [['+', ['ctx'], 1], ['+', ['ctx'], ['ev', 'v']], ['lit', 2]];
  const on = Object.fromEntries(EVENTS.filter(() => random.chance(0.6)).map((event) => [event, random.pick(reactions)]));
  return { kind: 'transition', initial: random.below(3), on };
}

/** Named actors for a machine of this level; `machine` makes a child machine. */
function catalogueOf(random, name, level, machine) {
  const kinds = [[3, 'promise'], [3, 'callback'], [2, 'transition']];
  if (level < MAX_LEVEL) kinds.push([level === 0 ? 5 : 1, 'machine']);
  const catalogue = {};
  const size = level === 0 ? random.between(2, 4) : random.between(1, 2);
  for (let i = 0; i < size; i++) {
    const kind = random.weighted(kinds);
    const actorName = `${name}${kind[0]}${i}`;
    if (kind === 'promise') catalogue[actorName] = promise(random);
    else if (kind === 'callback') catalogue[actorName] = callback(random, actorName);
    else if (kind === 'transition') catalogue[actorName] = reducer(random);
    else catalogue[actorName] = { kind: 'machine', ...machine(actorName, level + 1) };
  }
  return catalogue;
}

module.exports = { catalogueOf };
