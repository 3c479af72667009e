import type { Draft } from './draft';
import { Field } from './Field';
import type { Problems } from './SeatFields';

interface Props {
  draft: Draft;
  problems: Problems;
  change: (change: Partial<Draft>) => void;
}

type NumberKey = 'maxRounds' | 'costLimit' | 'warnAtCost' | 'timeoutPerRound' | 'maxTokens' | 'contextLimit';

function NumberField({
  name,
  label,
  hint,
  placeholder,
  props,
}: {
  name: NumberKey;
  label: string;
  hint?: string;
  placeholder?: string;
  props: Props;
}) {
  const { draft, problems, change } = props;
  return (
    <Field label={label} problem={problems[name]} {...(hint === undefined ? {} : { hint })}>
      {(control) => (
        <input
          {...control}
          inputMode="decimal"
          value={draft[name]}
          placeholder={placeholder}
          onChange={(event) => change({ [name]: event.target.value })}
        />
      )}
    </Field>
  );
}

/** Rounds, costs and sizes of a new debate. */
export function LimitFields(props: Props) {
  const { draft, problems, change } = props;
  const hasProblem = ['timeoutPerRound', 'maxTokens', 'contextLimit'].some((key) => problems[key] !== undefined);
  return (
    <section className="form-part" aria-labelledby="limits-title">
      <h2 id="limits-title">Rounds and costs</h2>
      <div className="form-grid">
        <NumberField name="maxRounds" label="Rounds" hint="1 to 10, after the openings" props={props} />
        <NumberField name="warnAtCost" label="Warn at" hint="USD, below the limit" placeholder="never" props={props} />
        <NumberField name="costLimit" label="Cost limit" hint="USD, above 0.10" placeholder="none" props={props} />
        <Field label="At the limit" problem={problems['onCostLimit']}>
          {(control) => (
            <select
              {...control}
              value={draft.onCostLimit}
              onChange={(event) => change({ onCostLimit: event.target.value })}
            >
              <option value="error">stop, until it is raised</option>
              <option value="judge">let the judge decide</option>
            </select>
          )}
        </Field>
      </div>
      <label className="check">
        <input
          type="checkbox"
          checked={draft.earlyStop}
          onChange={(event) => change({ earlyStop: event.target.checked })}
        />{' '}
        Ask the judge early when arguments repeat
      </label>
      <details className="form-more" open={hasProblem ? true : undefined}>
        <summary>More</summary>
        <div className="form-grid">
          <NumberField name="timeoutPerRound" label="Seconds a round" hint="up to 3600" props={props} />
          <NumberField name="maxTokens" label="Tokens a reply" hint="at most 100,000" props={props} />
          <NumberField
            name="contextLimit"
            label="Transcript tokens"
            hint="200 to 1,000,000 in a prompt"
            props={props}
          />
        </div>
      </details>
    </section>
  );
}
