'use strict';
/* Core charts: compound, parallel, final and history states with guards, always, after, raise, cancel, emit and enqueue.
 *
 * The order in which random numbers are drawn is part of this profile: a seed names the same chart for ever.
 */
const { Random } = require('./random.cjs');

const EVENTS = ['E0', 'E1', 'E2', 'E3', 'a.b', 'a.c.d'];
const DESCRIPTORS = [...EVENTS, 'a.*', 'a.c.*', '*', 'R0', 'R1'];
const INCREMENT = { $assign: { n: ['+', ['ctx', 'n'], 1] } };
const number = (id) => +id.slice(1);

class CoreChart {
  constructor(seed) {
    this.random = new Random(seed * 7919 + 13);
    this.count = 0;
    this.ids = [];
    this.histories = [];
    this.root = this.tree(0, null);
  }

  tree(depth, parentType) {
    const node = { id: 'n' + this.count++, kids: [] };
    const type = this.nodeType(depth);
    node.type = type === 'atomic' && parentType === 'compound' && this.random.chance(0.15) ? 'final' : type;
    if (type !== 'atomic') this.fill(node, depth, type);
    if (depth > 0) this.ids.push(node.id);
    return node;
  }

  nodeType(depth) {
    const { random } = this;
    if (depth === 0) return random.chance(0.35) ? 'parallel' : 'compound';
    if (depth >= 3 || random.chance(0.45)) return 'atomic';
    return random.chance(0.3) ? 'parallel' : 'compound';
  }

  fill(node, depth, type) {
    const { random } = this;
    const size = 2 + random.below(2);
    for (let i = 0; i < size; i++) node.kids.push(this.tree(depth + 1, type));
    if (!random.chance(0.3)) return;
    const history = { id: 'n' + this.count++, type: 'history', deep: random.chance(0.5), kids: [] };
    node.kids.push(history);
    this.histories.push(history.id);
  }

  target() {
    const { random, histories, ids } = this;
    return '#' + (histories.length && random.chance(0.15) ? random.pick(histories) : random.pick(ids));
  }

  expr() {
    const { random } = this;
    return random.pick([
      ['<', ['ctx', 'n'], 1 + random.below(6)],
      ['>', ['ctx', 'n'], random.below(5)],
      ['==', ['ev', 'type'], random.pick(EVENTS)],
      ['==', ['-', ['ctx', 'n'], 1], random.below(4)],
      true,
      false,
    ]);
  }

  guard(depth = 0) {
    const { random } = this;
    const x = random.next();
    if (x < 0.55 || depth > 1) return { $expr: this.expr() };
    if (x < 0.75) return { $in: '#' + random.pick(this.ids) };
    if (x < 0.85) return { $not: this.guard(depth + 1) };
    return { [random.chance(0.5) ? '$and' : '$or']: [this.guard(depth + 1), this.guard(depth + 1)] };
  }

  actions(tag, probability, raised = []) {
    const { random } = this;
    const actions = [];
    if (random.chance(probability)) actions.push(tag);
    if (random.chance(0.2)) actions.push(INCREMENT);
    if (raised.length && random.chance(0.25)) actions.push({ $raise: { type: random.pick(raised) } });
    if (random.chance(0.06)) {
      actions.push({ $raise: { type: random.pick(EVENTS) }, delay: 5 * (1 + random.below(4)), id: random.pick(['d1', 'd2']) });
    }
    if (random.chance(0.04)) actions.push({ $cancel: random.pick(['d1', 'd2']) });
    if (random.chance(0.05)) actions.push({ $emit: { type: 'm', n: ['ctx', 'n'] } });
    if (random.chance(0.06)) actions.push({ $enqueue: [{ if: this.guard(1), do: ['q:' + tag, INCREMENT], else: ['r:' + tag] }] });
    if (random.chance(0.3)) actions.push(tag + "'");
    return actions;
  }

  // Only handlers of E0 and E1 (and a few entries) raise, and only R0 or R1: most runs stay finite.
  transition(id, label) {
    const { random } = this;
    const transition = {};
    if (random.chance(0.85)) transition.target = this.target();
    if (random.chance(0.35)) transition.guard = this.guard();
    const actions = this.actions(`t:${id}.${label}`, 0.8, /^E[01]/.test(label) ? ['R0', 'R1'] : []);
    if (actions.length) transition.actions = actions;
    if (random.chance(0.15)) transition.reenter = true;
    return transition;
  }

  handlers(node, isRoot) {
    const { random } = this;
    const on = {};
    const size = isRoot ? random.below(2) : 1 + random.below(3);
    for (let i = 0; i < size; i++) {
      const descriptor = random.pick(DESCRIPTORS);
      on[descriptor] = this.candidates(node, descriptor);
    }
    return on;
  }

  candidates(node, descriptor) {
    const { random } = this;
    if (random.chance(0.08)) return {};
    if (!random.chance(0.25)) return this.transition(node.id, descriptor);
    return [this.transition(node.id, descriptor + '0'), this.transition(node.id, descriptor + '1')];
  }

  // The target of an eventless transition comes later in the document than its source: most runs stay finite.
  always(node) {
    const { random } = this;
    const later = this.ids.filter((id) => number(id) > number(node.id));
    const transition = this.transition(node.id, 'always');
    if (later.length && random.chance(0.85)) transition.target = '#' + random.pick(later);
    else {
      delete transition.target;
      transition.actions = ['t:' + node.id + '.always', INCREMENT];
    }
    transition.guard = transition.target ? this.guard() : { $expr: ['<', ['ctx', 'n'], 2 + random.below(4)] };
    delete transition.reenter;
    return transition;
  }

  state(node, isRoot) {
    if (node.type === 'history') return { id: node.id, type: 'history', history: node.deep ? 'deep' : 'shallow' };
    const { random } = this;
    const config = { id: node.id };
    if (node.type === 'parallel' || node.type === 'final') config.type = node.type;
    this.edges(node, config);
    if (random.chance(0.2)) config.tags = [random.pick(['x', 'y', 'z'])];
    if (node.type === 'final' && random.chance(0.4)) config.output = random.below(9);
    const on = this.handlers(node, isRoot);
    if (Object.keys(on).length) config.on = on;
    if (random.chance(0.15)) config.always = this.always(node);
    if (random.chance(0.12)) config.after = { [5 * (1 + random.below(4))]: this.transition(node.id, 'after') };
    if (node.kids.length) this.inside(node, config);
    return config;
  }

  edges(node, config) {
    const { random } = this;
    const entry = this.actions('en:' + node.id, 0.7, random.chance(0.15) ? ['R1'] : []);
    const exit = this.actions('ex:' + node.id, 0.7, random.chance(0.1) ? ['R0'] : []);
    if (entry.length) config.entry = entry;
    if (exit.length) config.exit = exit;
  }

  inside(node, config) {
    const { random } = this;
    if (random.chance(0.12)) config.onDone = this.transition(node.id, 'done');
    if (node.type === 'compound') {
      const first = node.kids.find((kid) => kid.type !== 'history').id;
      config.initial = random.chance(0.15) ? { target: first, actions: ['init:' + node.id] } : first;
    }
    config.states = Object.fromEntries(node.kids.map((kid) => [kid.id, this.state(kid)]));
  }

  config() {
    const config = { ...this.state(this.root, true), context: { n: 0 }, options: { maxIterations: 40 } };
    if (this.random.chance(0.3)) {
      config.output = { $expr: ['obj', { t: ['ev', 'type'], o: ['ev', 'output'], n: ['ctx', 'n'] }] };
    }
    return config;
  }

  steps() {
    const { random } = this;
    const steps = [];
    const size = 6 + random.below(10);
    for (let i = 0; i < size; i++) {
      const x = random.next();
      if (x < 0.82) steps.push({ send: { type: random.pick(EVENTS), v: i } });
      else if (x < 0.95) steps.push({ advance: 5 * (1 + random.below(3)) });
      else steps.push({ persist: 1 }, { restore: 1 });
    }
    return steps;
  }
}

function core(seed) {
  const chart = new CoreChart(seed);
  return { id: seed, config: chart.config(), steps: chart.steps() };
}

module.exports = { core };
