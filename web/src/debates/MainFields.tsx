import type { Draft } from './draft';
import { Field } from './Field';
import type { Problems } from './SeatFields';
import { FORMATS, LONGEST_TOPIC } from './validation';

const ABOUT: Record<string, string> = {
  oxford: '2 to 4 debaters, for and against. Openings at the same time, then in turn; the last round is the closing.',
  'lincoln-douglas': 'One for, one against, always in turn.',
  roundtable: '2 to 4 debaters of any position. Openings at the same time; the first speaker rotates.',
};

interface PartProps {
  draft: Draft;
  problems: Problems;
  change: (change: Partial<Draft>) => void;
}

/** The topic of a new debate, and its format. */
export function TopicFields({ draft, problems, change }: PartProps) {
  const left = [...draft.topic.trim()].length;
  return (
    <section className="form-part">
      <Field
        label="Topic"
        hint={`A motion or a question, 10 to 500 characters · ${left} of ${LONGEST_TOPIC}`}
        problem={problems['topic']}
      >
        {(control) => (
          <textarea
            {...control}
            rows={2}
            value={draft.topic}
            placeholder="Should a city close its centre to private cars?"
            onChange={(event) => change({ topic: event.target.value })}
          />
        )}
      </Field>
      <fieldset className="formats">
        <legend>Format</legend>
        {FORMATS.map((format) => (
          <label key={format} data-chosen={draft.format === format ? true : undefined}>
            <input type="radio" name="format" checked={draft.format === format} onChange={() => change({ format })} />
            <span>
              <b>{format}</b> {ABOUT[format]}
            </span>
          </label>
        ))}
      </fieldset>
    </section>
  );
}

/** The judge of a new debate, and its criteria. */
export function JudgeFields({ draft, problems, change, fallback }: PartProps & { fallback: string }) {
  return (
    <section className="form-part" aria-labelledby="judge-title">
      <h2 id="judge-title">Judge</h2>
      <div className="form-grid wide">
        <Field label="Judge's model" problem={problems['judge.model']}>
          {(control) => (
            <input
              {...control}
              list="debate-models"
              value={draft.judgeModel}
              placeholder={draft.seats[0]?.model || fallback}
              spellCheck={false}
              autoCapitalize="off"
              onChange={(event) => change({ judgeModel: event.target.value })}
            />
          )}
        </Field>
        <Field
          label="Criteria"
          hint="names with commas between them, at most 10"
          problem={problems['judge.evaluationCriteria']}
        >
          {(control) => (
            <input {...control} value={draft.criteria} onChange={(event) => change({ criteria: event.target.value })} />
          )}
        </Field>
      </div>
    </section>
  );
}
