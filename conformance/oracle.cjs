'use strict';
/* XState as an oracle: JSON lines of specs in, JSON lines of traces out.
 *
 * stdin:  {id, config, guards?, delays?, actors?, input?, steps: [...], options?}
 * stdout: {id, trace: [...]} or {id, fatal: message}
 *
 * JSON forms understood (everything else in the config is passed to createMachine untouched):
 *   actions: "name" | {type, params}      logged with context and event when executed ("?name" is left unimplemented)
 *            {"$assign": {k: expr} | expr}  {"$raise": event, delay, id}  {"$sendTo": target, event, delay, id}
 *            {"$sendParent": event, delay, id}  {"$forwardTo": child id}  {"$emit": event}  {"$log": expr, label}
 *            {"$cancel": id}  {"$spawn": src, id, input, systemId, syncSnapshot}  {"$stop": child id}  {"$throw": message}
 *            {"$enqueue": [action | {"if": guard, "do": [...], "else": [...]}]}
 *            The target of $sendTo is a string, or {"$system": systemId}: the actor registered under that
 *            systemId when the action is resolved, or, if there is none, the sending actor itself.
 *   guards:  "name" | {type, params} (of the top-level guards: {name: expr | guard form})
 *            {"$and": []} {"$or": []} {"$not": guard} {"$in": state value or "#id"} {"$expr": expr} {"$throw": message}
 *   values:  context, output, input, params, delays and events of the form {"$expr": expr} become functions;
 *            an event with a list as one of its values is computed key by key, each list being an expr
 *   expr:    ["ctx", k..] ["ev", k..] ["in", k..] (input) ["p", k..] (params) ["lit", v] ["+", a, b] ["-", a, b]
 *            ["==", a, b] ["<", a, b] [">", a, b] ["not", a] ["cat", list, x] ["obj", {k: expr}] ["throw", message] | literal
 *   actors:  {kind: "machine", config, guards, delays, actors}   {kind: "promise", resolve | reject | neither, log?}
 *            {kind: "callback", name, sendBack?, emit?, echo?, throwOnStart?}   {kind: "transition", initial, on: {type: expr}}
 *   steps:   {"send": event} {"advance": ms} {"persist": 1} {"restore": 1, "patch"?: {..}} {"stop": 1} {"start": 1}
 *            {"can": event} {"matches": value} {"hasTag": tag} {"childSend": [id, event]} {"flush": 1}
 *   options: {noStart: true}
 */
const X = require('xstate');

const MAX_ACTIONS = 300;
const MAX_MICROSTEPS = 60;
const FORMS = [
  '$assign', '$raise', '$sendTo', '$sendParent', '$forwardTo', '$emit', '$log', '$cancel', '$spawn', '$stop', '$enqueue', '$throw',
];

const isObject = (value) => value && typeof value === 'object' && !Array.isArray(value);
const isExpr = (value) => isObject(value) && '$expr' in value;
const list = (value) => (value === undefined ? [] : Array.isArray(value) ? value : [value]);
const mapValues = (object, f) => Object.fromEntries(Object.entries(object).map(([key, value]) => [key, f(value)]));
const dig = (object, keys) => keys.reduce((value, key) => (value == null ? undefined : value[key]), object);

function clone(value) {
  try {
    return value === undefined ? null : JSON.parse(JSON.stringify(value));
  } catch {
    return '<cyclic>';
  }
}

// Expressions -----------------------------------------------------------------------------------------------------------

function evaluate(expr, scope) {
  if (!Array.isArray(expr)) return expr;
  const [operator, ...args] = expr;
  const arg = (i) => evaluate(args[i], scope);
  switch (operator) {
    case 'ctx': return dig(scope.context, args);
    case 'ev': return dig(scope.event, args);
    case 'in': return dig(scope.input, args);
    case 'p': return dig(scope.params, args);
    case 'lit': return args[0];
    case '+': return arg(0) + arg(1);
    case '-': return arg(0) - arg(1);
    case '==': return arg(0) === arg(1);
    case '<': return arg(0) < arg(1);
    case '>': return arg(0) > arg(1);
    case 'not': return !arg(0);
    case 'cat': return [...arg(0), arg(1)];
    case 'obj': return mapValues(args[0], (value) => evaluate(value, scope));
    case 'throw': throw new Error(args[0]);
  }
  throw new Error('bad expr ' + JSON.stringify(expr));
}

const computed = (value) => (isExpr(value) ? (scope, params) => evaluate(value.$expr, { ...scope, params }) : value);

function eventOf(value) {
  if (isExpr(value)) return computed(value);
  if (!isObject(value) || !Object.values(value).some(Array.isArray)) return value;
  return (scope) => mapValues(value, (x) => evaluate(x, scope));
}

// Guards and actions ------------------------------------------------------------------------------------------------------

function guardOf(guard) {
  if (!isObject(guard)) return guard;
  if ('$and' in guard) return X.and(guard.$and.map(guardOf));
  if ('$or' in guard) return X.or(guard.$or.map(guardOf));
  if ('$not' in guard) return X.not(guardOf(guard.$not));
  if ('$in' in guard) return X.stateIn(guard.$in);
  if ('$expr' in guard) return (scope) => !!evaluate(guard.$expr, scope);
  if ('$throw' in guard) return () => { throw new Error(guard.$throw); };
  return 'params' in guard ? { ...guard, params: computed(guard.params) } : guard;
}

function targetOf(target) {
  return isObject(target) ? ({ system }) => system.get(target.$system) : target;
}

function assignment(form) {
  return Array.isArray(form) ? (scope) => evaluate(form, scope) : mapValues(form, (expr) => (scope) => evaluate(expr, scope));
}

function enqueued(form, names) {
  return X.enqueueActions(({ enqueue, check }) => {
    const run = (actions) => list(actions).forEach((action) => {
      if (isObject(action) && 'if' in action) run(check(guardOf(action.if)) ? action.do : action.else);
      else enqueue(actionOf(action, names));
    });
    run(form);
  });
}

function thrower(message) {
  return function thrower() { throw new Error(message); };
}

function builtin(form, action, names) {
  const options = {};
  if ('delay' in action) options.delay = computed(action.delay);
  if ('id' in action) options.id = action.id;
  switch (form) {
    case '$assign': return X.assign(assignment(action.$assign));
    case '$raise': return X.raise(eventOf(action.$raise), options);
    case '$sendTo': return X.sendTo(targetOf(action.$sendTo), eventOf(action.event), options);
    case '$sendParent': return X.sendParent(eventOf(action.$sendParent), options);
    case '$forwardTo': return X.forwardTo(action.$forwardTo, options);
    case '$emit': return X.emit(eventOf(action.$emit));
    case '$log': return X.log((scope) => evaluate(action.$log, scope), action.label);
    case '$cancel': return X.cancel(action.$cancel);
    case '$spawn': return X.spawnChild(action.$spawn, {
      id: computed(action.id), input: computed(action.input), systemId: action.systemId, syncSnapshot: action.syncSnapshot,
    });
    case '$stop': return X.stopChild(action.$stop);
    case '$throw': return thrower(action.$throw);
    case '$enqueue': return enqueued(action.$enqueue, names);
  }
}

function actionOf(action, names) {
  if (typeof action === 'string') {
    names.add(action);
    return action;
  }
  if (!isObject(action)) return action;
  const form = FORMS.find((key) => key in action);
  if (form) return builtin(form, action, names);
  names.add(action.type);
  return 'params' in action ? { ...action, params: computed(action.params) } : action;
}

// Names inside $enqueue must be implemented before the machine is created, not when the list first runs.
function collectNames(actions, names) {
  for (const action of list(actions)) {
    if (typeof action === 'string') names.add(action);
    else if (!isObject(action)) continue;
    else if ('if' in action) { collectNames(action.do, names); collectNames(action.else, names); }
    else if (action.type) names.add(action.type);
    else if (action.$enqueue) collectNames(action.$enqueue, names);
  }
}

function actionsOf(actions, names) {
  for (const action of list(actions)) if (isObject(action) && '$enqueue' in action) collectNames(action.$enqueue, names);
  return Array.isArray(actions) ? actions.map((action) => actionOf(action, names)) : actionOf(actions, names);
}

// Configs and logics ------------------------------------------------------------------------------------------------------

function transitionOf(transition, names) {
  if (Array.isArray(transition)) return transition.map((one) => transitionOf(one, names));
  if (!isObject(transition)) return transition;
  const result = { ...transition };
  if ('guard' in result) result.guard = guardOf(result.guard);
  if ('actions' in result) result.actions = actionsOf(result.actions, names);
  return result;
}

function invocationOf(invocation, names) {
  const result = { ...invocation };
  if ('input' in result) result.input = computed(result.input);
  for (const key of ['onDone', 'onError', 'onSnapshot']) if (key in result) result[key] = transitionOf(result[key], names);
  return result;
}

function stateOf(config, names) {
  const result = { ...config };
  for (const key of ['entry', 'exit']) if (key in result) result[key] = actionsOf(result[key], names);
  for (const key of ['on', 'after']) if (result[key]) result[key] = mapValues(result[key], (t) => transitionOf(t, names));
  for (const key of ['always', 'onDone', 'route']) if (key in result) result[key] = transitionOf(result[key], names);
  if (isObject(result.initial)) result.initial = transitionOf(result.initial, names);
  if ('output' in result) result.output = computed(result.output);
  if (isExpr(result.context)) {
    const expr = result.context.$expr;
    result.context = (scope) => evaluate(expr, scope);
  }
  if (Array.isArray(result.invoke)) result.invoke = result.invoke.map((one) => invocationOf(one, names));
  else if (result.invoke) result.invoke = invocationOf(result.invoke, names);
  if (result.states) result.states = mapValues(result.states, (state) => stateOf(state, names));
  return result;
}

function logged(name, log) {
  return ({ context, event }, params) => {
    const shown = params !== undefined ? { p: clone(params) } : {};
    log.push({ a: name, ...shown, c: clone(context), e: event.type });
  };
}

function namedGuard(guard) {
  if (!Array.isArray(guard) && typeof guard !== 'boolean') return guardOf(guard);
  return (scope, params) => !!evaluate(guard, { ...scope, params });
}

function build(spec, log) {
  const names = new Set();
  const config = stateOf(spec.config, names);
  const actions = {};
  for (const name of names) if (!name.startsWith('?')) actions[name] = logged(name, log);
  return X.createMachine(config, {
    actions,
    guards: mapValues(spec.guards || {}, namedGuard),
    delays: mapValues(spec.delays || {}, computed),
    actors: mapValues(spec.actors || {}, (actor) => logicOf(actor, log)),
  });
}

function promiseOf(actor, log) {
  return X.fromPromise(({ input, signal }) => new Promise((resolve, reject) => {
    if (actor.log) {
      log.push({ a: 'promise.start', p: clone(input) });
      signal.addEventListener('abort', () => log.push({ a: 'promise.abort' }));
    }
    if ('resolve' in actor) resolve(actor.resolve);
    else if ('reject' in actor) reject(new Error(actor.reject));
  }));
}

function callbackOf(actor, log) {
  const name = actor.name || '';
  return X.fromCallback(({ input, sendBack, receive, emit }) => {
    log.push({ a: 'cb.start:' + name, p: clone(input) });
    if (actor.throwOnStart) throw new Error(actor.throwOnStart);
    list(actor.sendBack).forEach((event) => sendBack(event));
    list(actor.emit).forEach((event) => emit(event));
    receive((event) => {
      log.push({ a: 'cb.recv:' + name, e: event.type });
      if (actor.echo) sendBack({ type: actor.echo, got: event.type });
    });
    return () => log.push({ a: 'cb.dispose:' + name });
  });
}

function reducerOf(actor) {
  const reduce = (context, event) => {
    return event.type in (actor.on || {}) ? evaluate(actor.on[event.type], { context, event }) : context;
  };
  return X.fromTransition(reduce, actor.initial);
}

function logicOf(actor, log) {
  switch (actor.kind) {
    case 'machine': return build(actor, log);
    case 'promise': return promiseOf(actor, log);
    case 'callback': return callbackOf(actor, log);
    case 'transition': return reducerOf(actor);
  }
  throw new Error('kind ' + actor.kind);
}

// Traces --------------------------------------------------------------------------------------------------------------

function describeTransition(transition) {
  return { ev: transition.eventType, src: transition.source.id, tgt: transition.target ? transition.target.map((n) => n.id) : null };
}

function describeChild(child) {
  if (!child) return null;
  const snapshot = child.getSnapshot();
  const result = { status: snapshot.status };
  if (snapshot.value !== undefined) result.value = clone(snapshot.value);
  if (snapshot.context !== undefined) result.context = clone(snapshot.context);
  return result;
}

function describe(actor) {
  const snapshot = actor.getSnapshot();
  const result = { status: snapshot.status };
  if ('value' in snapshot) {
    result.value = clone(snapshot.value);
    result.tags = [...snapshot.tags];
    result.nodes = snapshot._nodes.map((node) => node.id);
  }
  if ('context' in snapshot) result.context = clone(snapshot.context);
  if (snapshot.output !== undefined) result.output = clone(snapshot.output);
  if (snapshot.status === 'error') {
    result.error = snapshot.error instanceof Error ? snapshot.error.message : clone(snapshot.error);
  }
  if (snapshot.children && Object.keys(snapshot.children).length) result.children = mapValues(snapshot.children, describeChild);
  return result;
}

class Run {
  constructor(spec) {
    this.spec = spec;
    this.log = [];
    this.emitted = [];
    this.micro = [];
    this.trace = [];
    this.machine = build(spec, this.log);
    this.persisted = undefined;
    this.create();
  }

  create(snapshot) {
    this.clock = new X.SimulatedClock();
    this.actor = X.createActor(this.machine, {
      id: 'root',
      input: clone(this.spec.input) ?? undefined,
      clock: this.clock,
      snapshot,
      logger: (...args) => this.log.push({ a: 'log', p: clone(args) }),
      inspect: (inspection) => this.inspect(inspection),
    });
    this.actor.on('*', (event) => this.emitted.push(clone(event)));
    this.actor.subscribe({ error: () => {}, complete: () => this.log.push({ a: '(complete)' }) });
  }

  inspect({ type, actorRef, event, snapshot, _transitions }) {
    if (type !== '@xstate.microstep' || actorRef._parent) return;
    this.micro.push({ e: event.type, v: clone(snapshot.value), t: (_transitions || []).map(describeTransition) });
  }

  record(step, extra) {
    const entry = { step, ...describe(this.actor), ...extra };
    if (this.log.length > MAX_ACTIONS) entry.actionsTotal = this.log.length;
    if (this.log.length) entry.actions = this.log.splice(0).slice(0, MAX_ACTIONS);
    if (this.emitted.length) entry.emitted = this.emitted.splice(0);
    if (this.micro.length) entry.micro = this.micro.splice(0).slice(0, MAX_MICROSTEPS);
    this.trace.push(entry);
  }

  take(step) {
    if ('send' in step) this.actor.send(clone(step.send));
    else if ('advance' in step) this.clock.increment(step.advance);
    else if ('stop' in step) this.actor.stop();
    else if ('start' in step) this.actor.start();
    else if ('can' in step) return { can: this.actor.getSnapshot().can(step.can) };
    else if ('matches' in step) return { matches: this.actor.getSnapshot().matches(step.matches) };
    else if ('hasTag' in step) return { hasTag: this.actor.getSnapshot().hasTag(step.hasTag) };
    else if ('persist' in step) return this.persist();
    else if ('restore' in step) this.restore(step.patch);
    else if ('childSend' in step) this.actor.getSnapshot().children[step.childSend[0]].send(clone(step.childSend[1]));
  }

  persist() {
    this.persisted = JSON.stringify(this.actor.getPersistedSnapshot());
    return { persisted: JSON.parse(this.persisted) };
  }

  restore(patch) {
    this.create({ ...JSON.parse(this.persisted), ...patch });
    this.actor.start();
  }
}

const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

async function runCase(spec) {
  const run = new Run(spec);
  if (!(spec.options && spec.options.noStart)) {
    run.actor.start();
    await settled();
  }
  run.record('init');
  for (const step of spec.steps || []) {
    let extra;
    try {
      extra = run.take(step);
    } catch (error) {
      extra = { threw: String(error.message).split('\n').slice(0, 2).join(' / ') };
    }
    await settled();
    run.record(step, extra);
  }
  return run.trace;
}

async function answer(line) {
  const spec = JSON.parse(line);
  try {
    return { id: spec.id, trace: await runCase(spec) };
  } catch (error) {
    return { id: spec.id, fatal: error.message };
  }
}

async function main() {
  // XState reports an unhandled error of an actor by throwing it from a timer; the oracle must survive that.
  process.on('uncaughtException', () => {});
  process.on('unhandledRejection', () => {});
  console.warn = () => {};
  for await (const line of require('readline').createInterface({ input: process.stdin })) {
    if (line.trim()) process.stdout.write(JSON.stringify(await answer(line)) + '\n');
  }
  process.exit(0);
}

module.exports = { runCase, build };
if (require.main === module) main();
