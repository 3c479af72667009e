// XState on Node: the figures that it can be asked for, one line of JSON each.
'use strict';

const fs = require('fs');
const path = require('path');

const [modules, figure, ...sizes] = process.argv.slice(2);
const xstate = require(require.resolve('xstate', { paths: [modules] }));

/** A JSON file of the benchmark. */
function readJson(...names) {
  return JSON.parse(fs.readFileSync(path.join(__dirname, '..', ...names), 'utf8'));
}

/** CPU time of this process so far, in microseconds. */
function cpuUs() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Bytes that one idle, started actor of the chat machine keeps. */
function memory(count) {
  const machine = xstate.createMachine(readJson('machines', 'chat.json').config);
  xstate.createActor(machine).start();
  const actors = new Array(count);
  global.gc();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < count; i++) actors[i] = xstate.createActor(machine).start();
  global.gc();
  return { bytes: (process.memoryUsage().heapUsed - before) / actors.length };
}

/** CPU microseconds for each child from the first to the last. */
function spawn(actor, first, last) {
  const events = [];
  for (let number = first; number <= last; number++) events.push({ type: 'SPAWN', id: `kid-${number}` });
  global.gc();
  const began = cpuUs();
  for (const event of events) actor.send(event);
  return (cpuUs() - began) / events.length;
}

/** A spawn while an actor has few children, and while it has many. */
function spawning(window, total) {
  const kid = xstate.createMachine({
    id: 'kid', initial: 'idle', states: { idle: { on: { WORK: 'busy' } }, busy: {} },
  });
  const parent = xstate.setup({ actors: { kid } }).createMachine({
    id: 'parent',
    initial: 'open',
    states: {
      open: { on: { SPAWN: { actions: xstate.spawnChild('kid', { id: ({ event }) => event.id }) } } },
    },
  });
  spawn(xstate.createActor(parent).start(), 1, window);
  const actor = xstate.createActor(parent).start();
  const few = spawn(actor, 1, window);
  spawn(actor, window + 1, total - window);
  const many = spawn(actor, total - window + 1, total);
  const children = Object.keys(actor.getSnapshot().children).length;
  if (children !== total) throw new Error(`expected ${total} children, got ${children}`);
  return { few_us: few, many_us: many };
}

/** Milliseconds to build a machine from the debate chart: the median of many. */
function building(times) {
  const config = readJson('debate.machine.json');
  const took = [];
  for (let i = 0; i < times; i++) {
    const copy = structuredClone(config);
    const began = cpuUs();
    xstate.createMachine(copy);
    took.push((cpuUs() - began) / 1000);
  }
  return { ms: took.sort((a, b) => a - b)[times >> 1] };
}

console.log(JSON.stringify({ memory, spawning, building }[figure](...sizes.map(Number))));
