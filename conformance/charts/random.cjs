'use strict';
/* A seeded source of randomness: the same seed gives the same chart everywhere. */

function mulberry32(state) {
  return () => {
    state |= 0;
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

class Random {
  constructor(seed) {
    this.next = mulberry32(seed);
  }

  below(n) {
    return Math.floor(this.next() * n);
  }

  between(low, high) {
    return low + this.below(high - low + 1);
  }

  chance(probability) {
    return this.next() < probability;
  }

  pick(items) {
    return items[this.below(items.length)];
  }

  /** One of the [weight, value] pairs, by weight. */
  weighted(pairs) {
    let rest = this.next() * pairs.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, value] of pairs) if ((rest -= weight) < 0) return value;
    return pairs[pairs.length - 1][1];
  }

  /** Some of the items, at least `least`, in their order. */
  some(items, least) {
    const chosen = items.filter(() => this.chance(0.6));
    return chosen.length >= least ? chosen : items.slice(0, least);
  }
}

module.exports = { Random };
