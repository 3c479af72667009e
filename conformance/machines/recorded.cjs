// Machines whose functions are not written twice: XState runs the chart, and is given the answers that the functions
// of the Python machine gave on the same walk. An answer is given only to the question it belongs to: another guard,
// action, delay, input or output than the next one on the tape, or one that is left over, ends the process.
const { isDeepStrictEqual } = require("util");
const { and, assign, enqueueActions, setup } = require("xstate");

const tape = { answers: [], log: [], event: null, context: null, where: "" };

function giveUp(text) {
  console.error(`${tape.where}: ${text}`);
  process.exit(1);
}

// Begin a step with its answers; those of the step before must have been asked for.
exports.begin = (answers, where) => {
  if (tape.answers.length) giveUp(`never asked ${tape.answers[0][0]}`);
  Object.assign(tape, { answers: [...answers], log: [], event: null, where });
};
exports.asked = () => {
  if (tape.answers.length) giveUp(`never asked ${tape.answers[0][0]}`);
  return tape.log;
};

function answer(text, { context, event }) {
  if (event.type !== tape.event) tape.log.push(`@${(tape.event = event.type)}`);
  if (!sameContext(context)) tape.log.push("!stale context");
  tape.log.push(text);
  return next(text);
}

function next(text) {
  const [expected, value] = tape.answers.shift() ?? ["nothing"];
  return expected === text ? value : giveUp(`asked ${text}, expected ${expected}`);
}

// The context that follows from the assigns in the order in which they were done.
const sameContext = (context) =>
  Object.keys(context).length === Object.keys(tape.context).length &&
  Object.keys(context).every((key) => context[key] === tape.context[key]);

const called = (name, params) => (params === undefined ? name : `${name} ${JSON.stringify(params)}`);

const guard = (name) => (args, params) => {
  const holds = answer(`${called(name, params)}?`, args);
  tape.log[tape.log.length - 1] += holds ? "yes" : "no";
  return holds;
};

const action = (name) =>
  enqueueActions(({ enqueue, context, event, self }, params) => {
    for (const one of answer(called(name, params), { context, event })) {
      if ("assign" in one)
        enqueue.assign(({ context }) => {
          if (!sameContext(context)) tape.log.push("!stale context");
          tape.context = { ...context, ...one.assign };
          return one.assign;
        });
      else if ("raise" in one) enqueue.raise(one.raise, { delay: one.delay ?? undefined, id: one.id ?? undefined });
      else if ("sendTo" in one) enqueue.sendTo(one.sendTo === "#_parent" ? self._parent : one.sendTo, one.event);
      else if ("emit" in one) enqueue.emit(one.emit);
      else if ("cancel" in one) enqueue.cancel(one.cancel);
      else if ("spawn" in one) enqueue.spawnChild(one.spawn, { id: one.id, input: one.input });
      else if ("stop" in one) enqueue.stopChild(one.stop);
      else if ("do" in one) enqueue(typeof one.do === "string" ? { type: one.do } : one.do);
      else giveUp(`cannot do ${JSON.stringify(one)}`);
    }
  });

const value = (text) => ({ context, event }) => answer(text, { context, event });

const recorder = setup({
  actions: { hear: assign(({ context, event }) => ({ heard: [...context.heard, event] })) },
}).createMachine({
  context: ({ input }) => ({ input: input ?? null, heard: [] }),
  initial: "hearing",
  states: {
    hearing: { on: { END: { target: "ended", actions: "hear" }, "*": { actions: "hear" } } },
    ended: { type: "final" },
  },
  output: ({ context }) => context.heard.at(-1).output,
});

// The names are those to which the Python machine has functions bound; a guard that combines others lists them.
exports.recordedMachine = (chart, names) => {
  const bound = (kind, make) => Object.fromEntries(names[kind].map((name) => [name, make(name)]));
  const guards = Object.entries(names.guards).map(([name, parts]) => [name, parts ? and(parts) : guard(name)]);
  const states = Object.entries(chart.states).map(([name, state]) => {
    if (!state.invoke) return [name, state];
    return [name, { ...state, invoke: { ...state.invoke, input: value(`input ${state.invoke.id}`) } }];
  });
  return setup({
    actions: bound("actions", action),
    guards: Object.fromEntries(guards),
    delays: bound("delays", (name) => value(`delay ${name}`)),
    actors: bound("actors", () => recorder),
  }).createMachine({
    ...chart,
    states: Object.fromEntries(states),
    context: () => (tape.context = next("context")),
    output: value("output"),
  });
};

// What differs from before; nothing is there for what is gone.
exports.changeOf = (before, after) => {
  const same = (key) => key in before && isDeepStrictEqual(before[key], after[key]);
  const changed = Object.keys(after).filter((key) => !same(key)).map((key) => [key, after[key]]);
  const gone = Object.keys(before).filter((key) => !(key in after)).map((key) => [key, null]);
  return Object.fromEntries([...changed, ...gone]);
};

// Transitions by their places in the chart; that a machine is entered at all is none of them.
exports.namesOf = (transitions) => {
  const named = transitions.map((one) => {
    const { source, eventType } = one;
    const place = (eventType ? source.transitions.get(eventType) : source.always)?.indexOf(one);
    return `${source.id} ${eventType || "always"} ${place}`;
  });
  return tape.event === null || tape.event === "xstate.init" ? named.filter((name) => !name.endsWith(" -1")) : named;
};
