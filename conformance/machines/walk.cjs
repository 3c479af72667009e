// Walks machines of this project on XState: JSON lines of {machine, input, walk} in, the same with what happened out.
// The machine is a child, so that it has a parent to tell. A number in a walk lets so many milliseconds pass.
// Actors that a composition would provide are recorders: they keep their input and what they hear.
// Needs `xstate` where Node looks for it.
const { readFileSync } = require("fs");
const { join } = require("path");
const { assign, createActor, createMachine, SimulatedClock, spawnChild } = require("xstate");

const CHARTS = join(__dirname, "..", "..", "src", "antiphon", "machines");
const machines = new Map();
const recorder = createMachine({
  context: ({ input }) => ({ input: input ?? null, heard: [] }),
  on: { "*": { actions: assign(({ context, event }) => ({ heard: [...context.heard, event] })) } },
});

function machineOf(name) {
  if (!machines.has(name)) {
    const chart = JSON.parse(readFileSync(join(CHARTS, `${name}.json`), "utf8"));
    machines.set(name, require(`./${name}.cjs`)[`${name}Machine`](chart, recorder, machineOf));
  }
  return machines.get(name);
}

for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const { machine, input, walk } = JSON.parse(line);
  const clock = new SimulatedClock();
  const [emitted, trace, told] = [[], [], []];
  const parent = createMachine({
    entry: spawnChild(machineOf(machine), { id: "walked", input: input ?? undefined }),
    on: { "*": { actions: ({ event }) => told.push(event) } },
  });
  const actor = createActor(parent, { clock }).start().getSnapshot().children.walked;
  const note = () => {
    const { value, context, children, status } = actor.getSnapshot();
    const inside = Object.entries(children).map(([id, child]) => [id, child.getSnapshot().context]);
    trace.push({ value, context, children: Object.fromEntries(inside), status });
  };
  actor.on("*", (event) => emitted.push(event));
  note();
  for (const step of walk) {
    if (typeof step === "number") clock.increment(step);
    else actor.send(step);
    note();
  }
  console.log(JSON.stringify({ machine, input, walk, trace, emitted, told }));
}
