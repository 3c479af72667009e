// XState on Node: the same machines, slices and answers as the Python contestants (see child.py).
'use strict';

const fs = require('fs');
const path = require('path');
const readline = require('readline');

/** The command line as an object: `--name value` pairs. */
function readOptions(argv) {
  const options = {};
  for (let i = 0; i < argv.length; i += 2) options[argv[i].slice(2)] = argv[i + 1];
  return options;
}

/** XState as installed in `folder`, refusing its slower development build. */
function loadXState(folder) {
  const file = require.resolve('xstate', { paths: [folder] });
  if (file.includes('development')) throw new Error(`development build resolved: ${file}`);
  return require(file);
}

/** One of the four machines: its config, its events and what must hold part-way. */
function readMachine(name) {
  const file = path.join(__dirname, '..', 'machines', `${name}.json`);
  const { config, cycle, proof } = JSON.parse(fs.readFileSync(file, 'utf8'));
  const events = cycle.flatMap(({ event, times }) => Array(times).fill(event));
  return { config, events, proof };
}

/** The machine's logic with the functions that its config names, and the counter they bump. */
function createLogic(xstate, config) {
  const tally = { count: 0 };
  const is = (i) => ({ event }) => event.v === i;
  const logic = xstate.createMachine(config).provide({
    actions: {
      resetText: xstate.assign({ text: '' }),
      appendText: xstate.assign({ text: ({ context, event }) => context.text + event.text }),
      count: () => { tally.count += 1; },
    },
    guards: { is0: is(0), is1: is(1), is2: is(2), is3: is(3), is4: is(4) },
  });
  return { logic, tally };
}

/** The active leaves of a state value, as dotted paths. */
function leavesOf(value) {
  if (typeof value === 'string') return [value];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner).map((leaf) => `${key}.${leaf}`));
}

/** A started actor that takes events by `send`. */
function startActor(xstate, config) {
  const { logic, tally } = createLogic(xstate, config);
  const actor = xstate.createActor(logic).start();
  const play = (events, cycles) => {
    for (let i = 0; i < cycles; i++) for (const event of events) actor.send(event);
  };
  return { play, snapshot: () => actor.getSnapshot(), count: () => tally.count };
}

/** A snapshot moved by the pure `transition`; nothing executes the actions it returns. */
function startPure(xstate, config) {
  const { logic } = createLogic(xstate, config);
  let [snapshot, actions] = xstate.initialTransition(logic);
  let count = actions.length;
  const play = (events, cycles) => {
    for (let i = 0; i < cycles; i++) {
      for (const event of events) {
        [snapshot, actions] = xstate.transition(logic, snapshot, event);
        count += actions.length;
      }
    }
  };
  return { play, snapshot: () => snapshot, count: () => count };
}

/** Fails unless the machine does the agreed work. */
function prove(running, machine) {
  running.play(machine.events.slice(0, machine.proof.after), 1);
  const { value, context } = running.snapshot();
  const facts = {
    after: machine.proof.after,
    leaves: leavesOf(value),
    count: running.count(),
    text_length: (context.text ?? '').length,
  };
  if (JSON.stringify(facts) !== JSON.stringify(machine.proof)) {
    throw new Error(`expected ${JSON.stringify(machine.proof)}, got ${JSON.stringify(facts)}`);
  }
}

/** CPU time of this process so far, in milliseconds; helper threads of V8 are part of it. */
function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** CPU milliseconds that so many cycles take. */
function timeSlice(play, cycles) {
  const began = cpuMs();
  play(cycles);
  return cpuMs() - began;
}

/** Events per second: the middle one of three slices, after one that fills the caches again. */
function burstRate(play, cycles, events) {
  play(cycles >> 1);
  const times = [0, 0, 0].map(() => timeSlice(play, cycles)).sort((a, b) => a - b);
  return (events * cycles * 1000) / times[1];
}

/** Plays for a while, so that V8 optimises; says how many cycles make a slice. */
function warmUp(play, warmMs, sliceMs) {
  const began = cpuMs();
  let cycles = 1;
  let fastest = timeSlice(play, 1);
  while (cpuMs() - began < warmMs) {
    const took = timeSlice(play, cycles);
    if (took >= sliceMs / 2) fastest = Math.min(fastest, took / cycles);
    else cycles *= 2;
  }
  return Math.max(1, Math.round(sliceMs / fastest));
}

/** One line to the driver. */
function answer(value) {
  console.log(JSON.stringify(value));
}

function main() {
  const options = readOptions(process.argv.slice(2));
  const xstate = loadXState(options.modules);
  const machine = readMachine(options.machine);
  const starters = { send: startActor, transition: startPure };
  const start = () => starters[options.mode](xstate, machine.config);
  prove(start(), machine);

  const running = start();
  const play = (cycles) => running.play(machine.events, cycles);
  const cycles = warmUp(play, Number(options['warm-ms']), Number(options['slice-ms']));
  const events = machine.events.length;
  answer({ events_per_slice: events * cycles });
  readline
    .createInterface({ input: process.stdin })
    .on('line', () => answer(burstRate(play, cycles, events)));
}

main();
