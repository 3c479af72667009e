'use strict';
/* The script of an extended chart: the events, pauses, questions and restarts it goes through. */
const { EVENTS, SPAWNED, LOOKUP } = require('./events.cjs');
const { keysFrom } = require('./tree.cjs');
const { valueOf } = require('./guards.cjs');

class Script {
  constructor(machine) {
    this.random = machine.random;
    this.machine = machine;
    this.tree = machine.tree;
    this.weights = Object.entries(machine.settings.steps).map(([kind, weight]) => [weight, kind]);
    this.lookups = machine.settings.actorActions ? 6 : 0;
    this.children = this.likelyChildren();
  }

  // A child of the root or of the first states is more likely to be there than any other.
  likelyChildren() {
    const { root, real } = this.tree;
    const first = real.filter((node) => node.order < 3);
    const nodes = [root, root, root, root, ...first, ...first, ...real];
    return [...SPAWNED, ...nodes.flatMap((node) => node.invokes.map((invoke) => invoke.resolvedId))];
  }

  steps() {
    const steps = [];
    const size = this.random.between(8, 18);
    while (steps.length < size) steps.push(...this.next(steps.length));
    if (this.random.chance(0.1)) steps.push({ stop: 1 }, { send: this.event(size) });
    return steps;
  }

  // Starting what was stopped is left out: see the README.
  stopOrStart() {
    if (!this.stopped && this.random.chance(0.5)) return { start: 1 };
    this.stopped = true;
    return { stop: 1 };
  }

  event(number) {
    const type = this.random.weighted([[90, this.random.pick(EVENTS)], [this.lookups, LOOKUP], [3, 'UNKNOWN']]);
    return { type, v: number };
  }

  next(number) {
    const { random } = this;
    switch (random.weighted(this.weights)) {
      case 'child': return [{ childSend: [random.pick(this.children), this.event(number)] }];
      case 'advance': return [{ advance: random.pick([3, 5, 5, 10, 15, 30]) }];
      case 'persist': return [{ persist: 1 }, this.restore()];
      case 'rollback': return [{ persist: 1 }, { send: this.event(number) }, { send: this.event(number + 1) }, this.restore()];
      case 'query': return [this.query(number)];
      case 'route': return [{ send: { type: 'xstate.route', to: '#' + (random.pick(this.tree.real).id || 'nowhere'), v: number } }];
      case 'restart': return [this.stopOrStart()];
      default: return [{ send: this.event(number) }];
    }
  }

  restore() {
    if (!this.random.chance(0.06)) return { restore: 1 };
    return { restore: 1, patch: { context: { n: 3, a: 0, b: 0, l: ['patched'], s1: false, s2: false } } };
  }

  query(number) {
    const { random, tree } = this;
    switch (random.below(3)) {
      case 0: return { can: this.event(number) };
      case 1: return { hasTag: random.pick(['x', 'y', 'z', 'none']) };
      default: {
        const keys = keysFrom(tree.root, random.pick(tree.real));
        return { matches: random.chance(0.5) ? keys.join('.') : valueOf(keys) };
      }
    }
  }
}

module.exports = { Script };
