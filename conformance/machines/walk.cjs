// Walks machines of this project on XState: JSON lines of {machine, input, walk} in, the same with what happened out.
// The machine is a child, so that it has a parent to tell. A number in a walk lets so many milliseconds pass.
// Actors that a composition would provide are recorders: they keep their input and what they hear.
// Needs `xstate` where Node looks for it.
const { readFileSync } = require("fs");
const { assign, createActor, createMachine, SimulatedClock, spawnChild } = require("xstate");
const { chartOf } = require("./charts.cjs");
const recorded = require("./recorded.cjs");

const machines = new Map();
const recorder = createMachine({
  context: ({ input }) => ({ input: input ?? null, heard: [] }),
  on: { "*": { actions: assign(({ context, event }) => ({ heard: [...context.heard, event] })) } },
});

function machineOf(name) {
  if (!machines.has(name)) {
    machines.set(name, require(`./${name}.cjs`)[`${name}Machine`](chartOf(name), recorder, machineOf));
  }
  return machines.get(name);
}

// A walk with the answers of a machine's functions is taken without functions; see recorded.cjs.
function recordedOf(name, names) {
  if (!machines.has(name)) machines.set(name, recorded.recordedMachine(chartOf(name), names));
  return machines.get(name);
}

function simpleNotes(actor) {
  const { value, context, children, status } = actor.getSnapshot();
  const inside = Object.entries(children).map(([id, child]) => [id, child.getSnapshot().context]);
  return { value, context, children: Object.fromEntries(inside), status };
}

function recordedNotes(actor, took, before) {
  const { value, status, ...now } = simpleNotes(actor);
  const pending = Object.values(actor.system.getSnapshot()._scheduledEvents).filter(({ source }) => source === actor);
  now.timers = Object.fromEntries(pending.map(({ id, event, delay }) => [id, { event, delay }]));
  const changes = Object.keys(now).map((key) => [key, recorded.changeOf(before[key] ?? {}, now[key])]);
  Object.assign(before, now);
  return { value, status, ...Object.fromEntries(changes), took: took.splice(0), asked: recorded.asked() };
}

const lines = readFileSync(0, "utf8").trim().split("\n");
for (const [number, line] of lines.entries()) {
  const { machine, input, walk, answers, names } = JSON.parse(line);
  const clock = new SimulatedClock();
  const [emitted, trace, told, took, before] = [[], [], [], [], {}];
  const begin = () => answers && recorded.begin(answers[trace.length], `walk ${number}, step ${trace.length}`);
  const walked = answers ? recordedOf(machine, names) : machineOf(machine);
  const parent = createMachine({
    entry: spawnChild(walked, { id: "walked", input: input ?? undefined }),
    on: { "*": { actions: ({ event }) => told.push(event) } },
  });
  const inspect = ({ type, actorRef, _transitions }) => {
    if (answers && type === "@xstate.microstep" && actorRef.id === "walked") took.push(...recorded.namesOf(_transitions));
  };
  begin();
  const actor = createActor(parent, { clock, inspect }).start().getSnapshot().children.walked;
  const note = () => trace.push(answers ? recordedNotes(actor, took, before) : simpleNotes(actor));
  actor.on("*", (event) => emitted.push(event));
  note();
  for (const step of walk) {
    begin();
    if (typeof step === "number") clock.increment(step);
    else if ("to" in step) actor.getSnapshot().children[step.to].send(step.event);
    else actor.send(step);
    note();
  }
  console.log(JSON.stringify({ machine, input, walk, trace, emitted, told }));
}
