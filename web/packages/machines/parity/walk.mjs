// Takes walks on the machines of this package: JSON lines of {machine, input, walk} in, the same with what happened out.
// The machine is a child, so that it has a parent to tell. A number in a walk lets so many milliseconds pass.
// Actors that a composition would provide are recorders: they keep their input and what they hear.
// A line with `snapshot` continues from a snapshot that Python has stored; `asked` has events for `can`, step by step;
// with `details` each step also has the transitions taken, the timers, and the answers of `can`.
// `npm run build` first: this reads `dist`.
import { readFileSync } from 'node:fs';
import { SimulatedClock, assign, createActor, createMachine, setup, spawnChild } from 'xstate';
import { streamingMachine, threadMachine } from '../dist/index.js';

const recorder = createMachine({
  context: ({ input }) => ({ input: input ?? null, heard: [] }),
  on: { '*': { actions: assign(({ context, event }) => ({ heard: [...context.heard, event] })) } },
});
const machines = {
  streaming: streamingMachine.provide({ actors: { streamReply: recorder } }),
  thread: threadMachine.provide({ actors: { chat: recorder, run: recorder, debate: recorder } }),
};

/** Return the place of a transition in its chart; one of the initial state has none. */
function nameOf(transition) {
  const { source, eventType } = transition;
  const place = (eventType ? source.transitions.get(eventType) : source.always)?.indexOf(transition) ?? -1;
  return place < 0 ? [] : [`${source.id} ${eventType || 'always'} ${place}`];
}

function takeWalk({ machine, input, walk, snapshot, asked, details }) {
  const clock = new SimulatedClock();
  const emitted = [];
  const trace = [];
  const told = [];
  const took = [];
  const parent = setup({ actors: { walked: machines[machine] } }).createMachine({
    id: 'parent',
    entry: spawnChild('walked', { id: 'walked', input: input ?? undefined }),
    on: { '*': { actions: ({ event }) => told.push(event) } },
  });
  const inspect = ({ type, actorRef, _transitions }) => {
    if (type === '@xstate.microstep' && actorRef.id === 'walked') took.push(..._transitions.flatMap(nameOf));
  };
  const actor = createActor(parent, { clock, inspect, snapshot }).start().getSnapshot().children.walked;
  const note = () => {
    const { value, context, children, status } = actor.getSnapshot();
    const inside = Object.entries(children).map(([id, child]) => [id, child.getSnapshot().context]);
    const step = { value, context, children: Object.fromEntries(inside), status };
    if (details) {
      // oxlint-disable-next-line no-underscore-dangle
      const pending = Object.values(actor.system.getSnapshot()._scheduledEvents).filter(({ source }) => source === actor);
      const waiting = pending.filter(({ delay }) => delay > 0); // without a delay it may fire one step later than in Python
      step.timers = Object.fromEntries(waiting.map(({ id, event, delay }) => [id, { event, delay }]));
      step.took = took.splice(0);
      step.can = (asked?.[trace.length] ?? []).map((event) => actor.getSnapshot().can(event));
    }
    trace.push(step);
  };
  actor.on('*', (event) => emitted.push(event));
  note();
  for (const step of walk) {
    if (typeof step === 'number') clock.increment(step);
    else actor.send(step);
    note();
  }
  return { machine, input, walk, trace, emitted, told };
}

for (const line of readFileSync(0, 'utf8').trim().split('\n')) {
  process.stdout.write(`${JSON.stringify(takeWalk(JSON.parse(line)))}\n`);
}
