'use strict';
/* Guards: expressions, state checks, named guards with parameters and their combinations. */
const { EVENTS } = require('./events.cjs');
const { keysFrom } = require('./tree.cjs');

const NAMED_GUARDS = {
  below: ['<', ['ctx', 'n'], ['p', 'max']],
  started: ['>', ['ctx', 'n'], 0],
  settled: { $not: { type: 'below', params: { max: 2 } } },
  either: { $or: ['settled', { $expr: ['==', ['ev', 'type'], 'E1'] }] },
};
const BUDGET = 8;
const WITHIN_BUDGET = { $expr: ['<', ['ctx', 'b'], BUDGET] };

const valueOf = (keys) => keys.slice(0, -1).reduceRight((value, key) => ({ [key]: value }), keys[keys.length - 1]);

class Guards {
  constructor(random, tree) {
    this.random = random;
    this.tree = tree;
  }

  make(depth = 0) {
    const { random } = this;
    const kinds = [[50, 'expr'], [12, 'in'], [18, 'named']];
    if (depth < 2) kinds.push([8, 'not'], [12, 'both']);
    switch (random.weighted(kinds)) {
      case 'expr': return { $expr: this.expr() };
      case 'in': return this.inState();
      case 'named': return this.named();
      case 'not': return { $not: this.make(depth + 1) };
      default: return { [random.pick(['$and', '$or'])]: [this.make(depth + 1), this.make(depth + 1)] };
    }
  }

  expr() {
    const { random } = this;
    return random.pick([
      ['<', ['ctx', 'n'], random.between(1, 8)],
      ['>', ['ctx', 'n'], random.below(4)],
      ['==', ['ev', 'type'], random.pick(EVENTS)],
      ['not', ['==', ['-', ['ctx', 'n'], 1], random.below(4)]],
      true,
      random.chance(0.5),
    ]);
  }

  inState() {
    const { random, tree } = this;
    const node = random.pick(tree.real);
    return { $in: random.chance(0.6) ? random.pick(tree.absolute(node)) : valueOf(keysFrom(tree.root, node)) };
  }

  named() {
    const { random } = this;
    switch (random.below(4)) {
      case 0: return random.pick(['started', 'settled', 'either']);
      case 1: return { type: 'below', params: { $expr: ['obj', { max: ['+', ['ctx', 'b'], random.between(1, 5)] }] } };
      default: return { type: 'below', params: { max: random.between(1, 8) } };
    }
  }

  // Whatever one actor's message makes another do has to end: such handlers are limited by a counter in the context.
  limited() {
    return this.random.chance(0.2) ? { $and: [WITHIN_BUDGET, this.make(1)] } : WITHIN_BUDGET;
  }
}

module.exports = { Guards, NAMED_GUARDS, valueOf };
