'use strict';
/* The shape of a chart: its state nodes, their histories and initial states, and the ways to name one as a target. */

const isHistory = (node) => node.type === 'history';
const realKids = (node) => node.kids.filter((kid) => !isHistory(kid));
const lineage = (node) => (node ? [...lineage(node.parent), node] : []);
const isInside = (node, ancestor) => node !== ancestor && lineage(node).includes(ancestor);
const keysFrom = (ancestor, node) => lineage(node).slice(lineage(ancestor).length).map((one) => one.key);

class Tree {
  constructor(random, shape, name) {
    this.random = random;
    this.shape = shape;
    this.name = name;
    this.nodes = [];
    this.root = this.grow(null, 0);
    for (const node of this.nodes.filter(isHistory)) this.giveDefault(node);
    for (const node of this.nodes.filter((one) => one.type === 'compound')) this.giveInitial(node);
  }

  get real() {
    return this.nodes.filter((node) => node !== this.root && !isHistory(node));
  }

  get histories() {
    return this.nodes.filter(isHistory);
  }

  add(parent, type) {
    const key = parent ? `${this.name}${this.nodes.length}` : this.name;
    const node = { key, parent, type, kids: [], order: this.nodes.length, invokes: [] };
    if (!parent || this.random.chance(0.7)) node.id = parent ? 'i' + key : key;
    this.nodes.push(node);
    if (parent) parent.kids.push(node);
    return node;
  }

  grow(parent, depth) {
    const node = this.add(parent, this.pickType(parent, depth));
    if (node.type !== 'compound' && node.type !== 'parallel') return node;
    const size = this.random.between(2, this.shape.width);
    for (let i = 0; i < size; i++) this.grow(node, depth + 1);
    for (let i = 0; i < 2; i++) if (this.random.chance(this.shape.history)) this.addHistory(node);
    return node;
  }

  pickType(parent, depth) {
    const { random, shape } = this;
    if (!parent) return random.chance(shape.parallel) ? 'parallel' : 'compound';
    if (depth < shape.depth && this.nodes.length < shape.size && random.chance(shape.nested)) {
      return random.chance(shape.parallel) ? 'parallel' : 'compound';
    }
    return parent.type === 'compound' && parent.kids.length > 0 && random.chance(shape.final) ? 'final' : 'atomic';
  }

  addHistory(parent) {
    const node = this.add(parent, 'history');
    node.kind = this.random.pick(['shallow', 'deep', 'deep', true, undefined]);
  }

  giveDefault(history) {
    const { random } = this;
    if (!random.chance(0.45)) return;
    const { parent } = history;
    const regions = parent.type === 'parallel' ? random.some(realKids(parent), 1) : [random.pick(realKids(parent))];
    history.defaults = regions.map((region) => random.pick(this.within(region).filter((node) => !isHistory(node))));
  }

  // A history that falls back on the initial state of its parent cannot be that initial state.
  giveInitial(node) {
    const { random } = this;
    const histories = node.kids.filter(isHistory);
    const usable = histories.length > 0 && histories.every((history) => history.defaults);
    node.initial = usable && random.chance(this.shape.initialHistory) ? random.pick(histories) : realKids(node)[0];
  }

  within(node) {
    return this.nodes.filter((one) => one === node || isInside(one, node));
  }

  fullId(node) {
    return node.id || lineage(node).map((one) => one.key).join('.');
  }

  /** The names of `to` that need no relation to the state which uses them. */
  absolute(to) {
    const names = lineage(to)
      .filter((node) => node.id)
      .map((node) => ['#' + node.id, ...keysFrom(node, to)].join('.'));
    return to.id ? [names[names.length - 1], ...names] : names;
  }

  /** One of the ways in which `from` can name `to` as a target. */
  reference(from, to) {
    const names = this.absolute(to);
    if (from.parent && isInside(to, from.parent)) names.push(keysFrom(from.parent, to).join('.'));
    if (isInside(to, from)) names.push('.' + keysFrom(from, to).join('.'));
    return this.random.pick(names);
  }

  /** One of the ways in which a history state can name its default. */
  defaultReference(history, to) {
    return this.random.pick([...this.absolute(to), keysFrom(history.parent, to).join('.')]);
  }

  /** Targets in several regions of one parallel state, or nothing if there is none. */
  regionTargets() {
    const { random } = this;
    const parallels = this.nodes.filter((node) => node.type === 'parallel');
    if (!parallels.length) return undefined;
    return random.some(realKids(random.pick(parallels)), 2).map((region) => random.pick(this.within(region)));
  }
}

module.exports = { Tree, isHistory, realKids, lineage, isInside, keysFrom };
