'use strict';
/* The settings of the extended profiles: how large the charts are and what is frequent in them. */

const SMALL = { depth: 2, width: 3, size: 8, nested: 0.35, parallel: 0.25, history: 0.12, final: 0.2, initialHistory: 0.1 };
const LARGE = { depth: 4, width: 3, size: 16, nested: 0.6, parallel: 0.45, history: 0.45, final: 0.1, initialHistory: 0.15 };
const CHILD = { depth: 2, width: 3, size: 5, nested: 0.25, parallel: 0.25, history: 0.2, final: 0.3, initialHistory: 0.1 };

const SETTINGS = {
  actors: {
    shape: SMALL, childShape: CHILD, invoke: 0.45, actorActions: 0.3,
    reenter: 0.15, historyTargets: 0.1, regionTargets: 0.05, route: 0.05,
    steps: { send: 52, child: 16, advance: 14, persist: 3, rollback: 1, query: 6, route: 2, restart: 1 },
  },
  mixture: {
    shape: LARGE, childShape: CHILD, invoke: 0, actorActions: 0,
    reenter: 0.25, historyTargets: 0.3, regionTargets: 0.18, route: 0.12,
    steps: { send: 74, child: 0, advance: 8, persist: 4, rollback: 1, query: 6, route: 6, restart: 0.5 },
  },
  persist: {
    shape: SMALL, childShape: { ...CHILD, history: 0.4 }, invoke: 0.55, actorActions: 0.25,
    reenter: 0.1, historyTargets: 0.2, regionTargets: 0.05, route: 0.03,
    steps: { send: 40, child: 18, advance: 8, persist: 24, rollback: 6, query: 2, route: 1, restart: 0.5 },
  },
};

module.exports = { SETTINGS };
