'use strict';
/* One machine of an extended chart: a tree of states with handlers, timers, invocations and actions. */
const { Tree, isHistory, realKids } = require('./tree.cjs');
const { Guards, NAMED_GUARDS } = require('./guards.cjs');
const { Actions, NAMED_DELAYS, INCREMENT, FRESH, COUNT } = require('./actions.cjs');
const { catalogueOf } = require('./actors.cjs');
const { EVENTS, TIMED, RAISED, MESSAGES, SPAWNED, LOOKUP } = require('./events.cjs');

const SPEND = { $assign: { b: ['+', ['ctx', 'b'], 1] } };
const TAGS = ['x', 'y', 'z'];
const PLAIN_DESCRIPTORS = [...EVENTS, ...EVENTS, ...EVENTS, 'a.*', 'a.c.*', ...RAISED];
const MESSAGE_DESCRIPTORS = [
  ...MESSAGES, ...MESSAGES, 'c.*', 'c.*', '*',
  ...SPAWNED.flatMap((id) => [`xstate.done.actor.${id}`, `xstate.error.actor.${id}`, `xstate.snapshot.${id}`]),
  'xstate.done.actor.*', 'xstate.error.actor.*', 'xstate.snapshot.*',
];

const withOutput = (label) => ({ type: `done:${label}`, params: { $expr: ['obj', { output: ['ev', 'output'] }] } });

class Machine {
  constructor({ random, settings, systemIds }, name, level) {
    this.random = random;
    this.settings = settings;
    this.level = level;
    this.systemIds = systemIds;
    this.name = name;
    this.tree = new Tree(random, level === 0 ? settings.shape : settings.childShape, name);
    const child = (childName, childLevel) => new Machine({ random, settings, systemIds }, childName, childLevel).spec();
    this.catalogue = settings.actorActions ? catalogueOf(random, name, level, child) : {};
    for (const node of this.tree.real.concat(this.tree.root)) this.chooseInvokes(node);
    const world = { random, settings, level, tree: this.tree, catalogue: this.catalogue, systemIds };
    this.guards = new Guards(random, this.tree);
    this.actions = new Actions(world, this.guards);
  }

  // Invocations -----------------------------------------------------------------------------------------------------------

  chooseInvokes(node) {
    const { random, settings, level } = this;
    if (node.type === 'final' && !random.chance(0.1)) return;
    const probability = node.parent ? settings.invoke / (level + 1) : settings.invoke * 1.4;
    for (let i = 0; i < 2; i++) if (random.chance(i ? probability / 2 : probability)) this.chooseInvoke(node, i);
  }

  chooseInvoke(node, wanted) {
    const { random } = this;
    const index = Math.min(wanted, node.invokes.length);
    const id = random.weighted([[60, `${node.key}k${index}`], [10, `${this.name}dup`], [30, undefined]]);
    const src = random.pick(Object.keys(this.catalogue));
    const resolvedId = id || `${index}.${this.tree.fullId(node)}`;
    node.invokes.push({ src, id, resolvedId, systemId: this.chooseSystemId(resolvedId) });
  }

  chooseSystemId(id) {
    const { random, systemIds } = this;
    if (!random.chance(0.15)) return undefined;
    const systemId = random.chance(0.1) ? random.pick(systemIds) : 'sys:' + id;
    systemIds.push(systemId);
    return systemId;
  }

  invocation(node, { src, id, resolvedId, systemId }) {
    const { random } = this;
    const config = { src };
    if (id) config.id = id;
    if (systemId) config.systemId = systemId;
    config.input = random.chance(0.7) ? { $expr: ['obj', { x: ['ctx', 'n'] }] } : { x: random.below(4) };
    const on = (key, probability) => {
      if (random.chance(probability)) config[key] = this.answer(node, `${resolvedId}.${key}`, src, key);
    };
    on('onDone', 0.75);
    on('onError', 0.85);
    on('onSnapshot', 0.2);
    return config;
  }

  answer(node, label, src, key) {
    const transition = this.limited(node, label);
    const value = this.answerValue(this.catalogue[src], key);
    if (key === 'onDone') transition.actions.push(withOutput(label));
    if (value && this.random.chance(0.4)) transition.actions.push({ $assign: value });
    return transition;
  }

  answerValue(actor, key) {
    if (key === 'onDone') return actor.kind === 'promise' ? { n: ['ev', 'output'] } : undefined;
    if (key === 'onError') return { last: ['ev', 'error', 'message'] };
    if (actor.kind === 'transition') return { last: ['ev', 'snapshot', 'context'] };
    return actor.kind === 'machine' ? { last: ['ev', 'snapshot', 'context', 'n'] } : { last: ['ev', 'snapshot', 'status'] };
  }

  // Transitions -----------------------------------------------------------------------------------------------------------

  target(node) {
    const { random, tree, settings } = this;
    const { histories } = tree;
    const several = random.chance(settings.regionTargets) && tree.regionTargets();
    if (several) return several.map((to) => tree.reference(node, to));
    if (histories.length && random.chance(settings.historyTargets)) return tree.reference(node, random.pick(histories));
    return tree.reference(node, this.destination(node));
  }

  // The ends of a chart are rarely chosen: what is done or final has little left to show.
  destination(node) {
    const { random, tree } = this;
    const siblings = node.parent ? realKids(node.parent) : [];
    const near = siblings.length && random.chance(0.4);
    const draw = () => random.pick(near ? siblings : tree.real);
    const chosen = draw();
    return chosen === node || (chosen.type === 'final' && random.chance(0.5)) ? draw() : chosen;
  }

  transition(node, descriptor, number = '') {
    const { random, settings } = this;
    const transition = {};
    if (random.chance(0.8)) transition.target = this.target(node);
    if (random.chance(0.22)) transition.guard = this.guards.make();
    const kind = transition.target ? 'move' : 'stay';
    const external = EVENTS.includes(descriptor);
    const place = { node, kind, external, refills: external && !TIMED.includes(descriptor) };
    const actions = this.actions.list(`t:${node.key}.${descriptor}${number}`, place);
    if (actions.length) transition.actions = actions;
    if (random.chance(settings.reenter)) transition.reenter = true;
    return transition;
  }

  limited(node, label) {
    const transition = this.transition(node, label);
    if (this.random.chance(0.35)) delete transition.target;
    transition.guard = this.guards.limited();
    transition.actions = [SPEND, ...(transition.actions || [])];
    return transition;
  }

  candidates(node, descriptor) {
    const { random } = this;
    if (MESSAGE_DESCRIPTORS.includes(descriptor)) return this.limited(node, descriptor);
    if (random.chance(0.04)) return {};
    if (random.chance(0.02)) return [];
    if (!random.chance(0.25)) return this.transition(node, descriptor);
    return [this.transition(node, descriptor, '0'), this.transition(node, descriptor, '1')];
  }

  handlers(node) {
    const { random } = this;
    const on = {};
    const size = node.type === 'final' ? 1 : random.between(2, 4);
    for (let i = 0; i < size; i++) this.handle(on, node, random.pick(PLAIN_DESCRIPTORS));
    if (this.settings.actorActions) this.handleMessages(on, node);
    else if (random.chance(0.08)) this.handle(on, node, '*');
    return on;
  }

  handleMessages(on, node) {
    const { random } = this;
    const size = random.below(node.parent ? 2 : 4);
    for (let i = 0; i < size; i++) this.handle(on, node, random.pick(MESSAGE_DESCRIPTORS));
    if (node.parent) return;
    if (random.chance(0.4)) on[LOOKUP] = { actions: ['lookup:' + node.key, ...this.actions.lookups()] };
    if (random.chance(0.6)) this.handle(on, node, 'c.*');
    if (random.chance(0.85)) on['xstate.error.actor.*'] = [this.limited(node, 'error'), { actions: ['caught:' + node.key] }];
  }

  handle(on, node, descriptor) {
    on[descriptor] = this.candidates(node, descriptor);
  }

  // An eventless transition is tried again after every event, so it is counted as well.
  always(node) {
    const transition = this.eventless(node);
    transition.guard = { $and: [FRESH, transition.guard] };
    transition.actions = [COUNT, ...(transition.actions || [])];
    return transition;
  }

  eventless(node) {
    const { random, tree } = this;
    const later = tree.real.filter((one) => one.order > node.order);
    const transition = this.transition(node, 'always');
    delete transition.reenter;
    if (later.length && random.chance(0.8)) {
      return { ...transition, target: tree.reference(node, random.pick(later)), guard: this.guards.make() };
    }
    delete transition.target;
    const guard = { $expr: ['<', ['ctx', 'n'], random.between(2, 5)] };
    return { ...transition, guard, actions: ['t:' + node.key + '.always', INCREMENT] };
  }

  after(node) {
    const { random } = this;
    const delays = random.some([5, 10, 15, 'short', 'growing'], 1).slice(0, 2);
    return Object.fromEntries(delays.map((delay) => [delay, this.transition(node, 'after' + delay)]));
  }

  // States ----------------------------------------------------------------------------------------------------------------

  state(node) {
    if (isHistory(node)) return this.history(node);
    const { random } = this;
    const config = {};
    if (node.id) config.id = node.id;
    if (node.type === 'parallel' || node.type === 'final') config.type = node.type;
    this.edges(node, config);
    if (random.chance(0.25)) config.tags = random.chance(0.7) ? [random.pick(TAGS)] : random.pick(TAGS);
    if (node.type === 'final' && random.chance(0.6)) config.output = this.finalOutput();
    config.on = this.handlers(node);
    if (random.chance(0.1)) config.always = this.always(node);
    if (random.chance(0.15)) config.after = this.after(node);
    if (node.invokes.length) config.invoke = this.invocations(node);
    if (node.id && node.parent && random.chance(this.settings.route)) config.route = this.route(node);
    if (node.kids.length) this.inside(node, config);
    return config;
  }

  history(node) {
    const config = { type: 'history' };
    if (node.id) config.id = node.id;
    if (node.kind !== undefined) config.history = node.kind;
    if (node.defaults) {
      const names = node.defaults.map((to) => this.tree.defaultReference(node, to));
      config.target = names.length === 1 ? names[0] : names;
    }
    return config;
  }

  edges(node, config) {
    for (const kind of ['entry', 'exit']) {
      const actions = this.actions.list(`${kind.slice(0, 2)}:${node.key}`, { node, kind, external: false });
      if (actions.length) config[kind] = actions.length === 1 && this.random.chance(0.5) ? actions[0] : actions;
    }
  }

  finalOutput() {
    return this.random.pick([7, { done: true }, { $expr: ['obj', { n: ['ctx', 'n'], type: ['ev', 'type'] }] }]);
  }

  invocations(node) {
    const configs = node.invokes.map((invoke) => this.invocation(node, invoke));
    return configs.length === 1 && this.random.chance(0.5) ? configs[0] : configs;
  }

  route(node) {
    const route = {};
    if (this.random.chance(0.4)) route.guard = this.guards.make();
    const place = { node: this.tree.root, kind: 'move', external: false };
    if (this.random.chance(0.5)) route.actions = this.actions.list(`route:${node.key}`, place);
    return route;
  }

  inside(node, config) {
    const { random } = this;
    if (random.chance(0.4)) {
      const transition = this.transition(node, 'done');
      config.onDone = { ...transition, actions: [...(transition.actions || []), withOutput(node.key)] };
    }
    if (node.type === 'compound') {
      const target = node.initial.key;
      config.initial = random.chance(0.2) ? { target, actions: ['init:' + node.key] } : target;
    }
    config.states = Object.fromEntries(node.kids.map((kid) => [kid.key, this.state(kid)]));
  }

  spec() {
    const { random } = this;
    const config = { ...this.state(this.tree.root), context: this.context(), options: { maxIterations: 40 } };
    if (random.chance(0.5)) config.output = { $expr: ['obj', { t: ['ev', 'type'], o: ['ev', 'output'], n: ['ctx', 'n'] }] };
    const spec = { config, guards: NAMED_GUARDS, delays: NAMED_DELAYS };
    if (Object.keys(this.catalogue).length) spec.actors = this.catalogue;
    return spec;
  }

  // Every root and child gets an input {x}, whether its context uses it or not.
  context() {
    const flags = { a: 0, b: 0, ...Object.fromEntries(SPAWNED.map((id) => [id, false])) };
    if (this.random.chance(0.5)) return { n: 0, l: [], ...flags };
    return { $expr: ['obj', { n: ['in', 'x'], l: ['lit', []], ...flags }] };
  }
}

module.exports = { Machine };
