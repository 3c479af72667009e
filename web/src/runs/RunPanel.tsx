import { useState } from 'react';
import { ActionButton } from '../parts/ActionButton';
import { StandingPermissions } from '../requests/StandingPermissions';
import type { OpenedThread } from '../wire/types';
import type { RunActions } from './actions';
import { contentOf, planProgress, possibleOf, type RunContent } from './content';
import { Meters } from './Meters';
import { PlanPanel } from './PlanPanel';

const MODES: Readonly<Record<string, string>> = {
  plan: 'Agents only read.',
  ask: 'Changes and commands are asked about.',
  'auto-edit': 'Files may be changed; commands are asked about.',
  auto: 'Files and commands in the sandbox are allowed.',
};

function Agents({
  run,
  actions,
  canForce,
  canRetry,
  current,
}: {
  run: RunContent;
  actions: RunActions;
  canForce: boolean;
  canRetry: boolean;
  current: string;
}) {
  const [name, setName] = useState('');
  const chosen = name || (run.agents.find((agent) => agent !== current) ?? run.agents[0] ?? '');
  if (!canForce && !canRetry) return null;
  return (
    <section className="run-panel-part" aria-label="Next agent">
      <h2>Next agent</h2>
      <p className="quiet-text">The agent at work is stopped, and yours begins.</p>
      <div className="run-force">
        <select className="field" aria-label="Agent" value={chosen} onChange={(event) => setName(event.target.value)}>
          {run.agents.map((agent) => (
            <option key={agent} value={agent}>
              {agent}
            </option>
          ))}
        </select>
        <ActionButton disabled={!canForce || chosen === ''} onAct={() => actions.forceAgent(chosen)}>
          Let it work now
        </ActionButton>
      </div>
      {canRetry ? (
        <ActionButton className="quiet" onAct={actions.retryTurn}>
          Start this turn again
        </ActionButton>
      ) : null}
    </section>
  );
}

function Permissions({ page, run }: { page: OpenedThread; run: RunContent }) {
  const { mode, overrides } = run.consent;
  const isEmpty = overrides.length === 0 && page.permissions.length === 0;
  return (
    <section className="run-panel-part" aria-label="Permissions">
      <h2>
        Permissions <span className="run-figure">{mode}</span>
      </h2>
      <p className="quiet-text">{MODES[mode] ?? ''}</p>
      {isEmpty && run.outcome === null ? <p className="quiet-text">Nothing is allowed beyond that.</p> : null}
      <StandingPermissions page={page} overrides={overrides} />
    </section>
  );
}

/** Beside the timeline: plan, limits, agents, permissions. */
export function RunPanel({
  page,
  elapsed,
  current,
  actions,
}: {
  page: OpenedThread;
  elapsed: number;
  current: string;
  actions: RunActions;
}) {
  const run = contentOf(page);
  const can = possibleOf(page);
  const progress = run.plan === null ? null : planProgress(run.plan);
  // Counts only where the panel is above the timeline: beside it, it is always open.
  const [isOpen, setOpen] = useState(false);
  return (
    <aside className="run-panel" aria-label="About this run" data-open={isOpen}>
      <button type="button" className="quiet run-panel-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? '▾' : '▸'} Plan, limits, agents{' '}
        {progress === null ? null : (
          <span className="run-figure">
            {progress.done} of {progress.all} done
          </span>
        )}
      </button>
      <PlanPanel plan={run.plan} onSkip={can.skipStep ? actions.skipStep : null} />
      <Meters run={run} elapsed={elapsed} />
      <Agents run={run} actions={actions} canForce={can.forceAgent} canRetry={can.retryTurn} current={current} />
      <Permissions page={page} run={run} />
    </aside>
  );
}
