import { ActionButton } from '../parts/ActionButton';
import { planProgress, type Plan, type PlanStep } from './content';

const MARKS: Record<PlanStep['status'], [string, string]> = {
  pending: ['·', 'not started'],
  in_progress: ['▸', 'in progress'],
  complete: ['✓', 'done'],
  failed: ['✗', 'failed'],
  skipped: ['–', 'skipped'],
};

/** The plan, step by step, and how far it is. */
export function PlanPanel({ plan, onSkip }: { plan: Plan | null; onSkip: (() => Promise<unknown>) | null }) {
  if (plan === null) {
    return (
      <section className="run-panel-part" aria-label="Plan">
        <h2>Plan</h2>
        <p className="quiet-text">There is no plan yet. A planner makes one, or the arbiter goes on without.</p>
      </section>
    );
  }
  const { done, all } = planProgress(plan);
  return (
    <section className="run-panel-part" aria-label="Plan">
      <h2>
        Plan{' '}
        <span className="run-figure">
          {done} of {all} done
        </span>
      </h2>
      <div
        className="plan-bar"
        role="progressbar"
        aria-label="Plan"
        aria-valuemin={0}
        aria-valuemax={all}
        aria-valuenow={done}
      >
        {plan.steps.map((step) => (
          <span key={step.index} data-status={step.status} />
        ))}
      </div>
      <ol className="plan">
        {plan.steps.map((step) => (
          <li
            key={step.index}
            data-status={step.status}
            aria-current={step.status === 'in_progress' ? 'step' : undefined}
          >
            <span className="plan-mark" aria-hidden="true">
              {MARKS[step.status][0]}
            </span>
            <span>
              {step.description}
              <span className="hidden-text"> ({MARKS[step.status][1]})</span>
              {step.agentUsed === undefined ? null : <small>{step.agentUsed}</small>}
            </span>
          </li>
        ))}
      </ol>
      {onSkip === null || done === all ? null : (
        <ActionButton onAct={onSkip}>Skip this step</ActionButton>
      )}
    </section>
  );
}
