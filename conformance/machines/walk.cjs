// Walks machines of this project on XState: JSON lines of {machine, input, walk} in, the same with trace and emitted out.
// A number in a walk lets so many milliseconds pass. Needs `xstate` where Node looks for it.
const { readFileSync } = require("fs");
const { join } = require("path");
const { createActor, SimulatedClock } = require("xstate");

const CHARTS = join(__dirname, "..", "..", "src", "antiphon", "machines");
const machines = new Map();

function machineOf(name) {
  if (!machines.has(name)) {
    const chart = JSON.parse(readFileSync(join(CHARTS, `${name}.json`), "utf8"));
    machines.set(name, require(`./${name}.cjs`)[`${name}Machine`](chart));
  }
  return machines.get(name);
}

for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const { machine, input, walk } = JSON.parse(line);
  const clock = new SimulatedClock();
  const emitted = [];
  const trace = [];
  const actor = createActor(machineOf(machine), { input: input ?? undefined, clock });
  const note = () => {
    const { value, context, children, status } = actor.getSnapshot();
    trace.push({ value, context, children: Object.keys(children), status });
  };
  actor.on("*", (event) => emitted.push(event));
  actor.start();
  note();
  for (const step of walk) {
    if (typeof step === "number") clock.increment(step);
    else actor.send(step);
    note();
  }
  console.log(JSON.stringify({ machine, input, walk, trace, emitted }));
}
