import type { ModelRow } from '../wire/types';
import { Badge } from './Badge';
import { newSeat, PERSONAS, whyNot, type Draft, type SeatDraft } from './draft';
import { Field } from './Field';
import { LETTERS } from './reading';
import { FEWEST, MOST, POSITIONS } from './validation';

export type Problems = Readonly<Record<string, string>>;

interface Props {
  draft: Draft;
  models: readonly ModelRow[];
  fallback: string;
  problems: Problems;
  change: (change: Partial<Draft>) => void;
}

interface SeatProps {
  seat: SeatDraft;
  index: number;
  props: Props;
  change: (change: Partial<SeatDraft>) => void;
  remove: (() => void) | null;
}

function SeatRow({ seat, index, props, change, remove }: SeatProps) {
  const { problems, models, fallback } = props;
  const place = `participants[${index}]`;
  const letter = LETTERS[index] ?? '?';
  const why = whyNot(models, seat.model || fallback);
  return (
    <fieldset className={`seat side-${letter}`}>
      <legend>
        <Badge letter={letter} /> Debater {letter}
      </legend>
      <Field label="Name" problem={problems[`${place}.name`]}>
        {(control) => (
          <input
            {...control}
            value={seat.name}
            placeholder={PERSONAS[index]}
            onChange={(event) => change({ name: event.target.value })}
          />
        )}
      </Field>
      <Field label="Side" problem={problems[`${place}.position`]}>
        {(control) => (
          <select {...control} value={seat.position} onChange={(event) => change({ position: event.target.value })}>
            {POSITIONS.map((side) => (
              <option key={side}>{side}</option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Model" problem={problems[`${place}.model`]} {...(why === '' ? {} : { hint: why })}>
        {(control) => (
          <input
            {...control}
            list="debate-models"
            value={seat.model}
            placeholder={fallback}
            spellCheck={false}
            autoCapitalize="off"
            onChange={(event) => change({ model: event.target.value })}
          />
        )}
      </Field>
      {remove !== null && (
        <button type="button" className="quiet" onClick={remove} aria-label={`Remove debater ${letter}`}>
          Remove
        </button>
      )}
      <details className="seat-prompt" open={problems[`${place}.systemPrompt`] === undefined ? undefined : true}>
        <summary>Prompt</summary>
        <Field
          label="Prompt"
          hint="What the debater is like; without it, a style that goes with the name."
          problem={problems[`${place}.systemPrompt`]}
        >
          {(control) => (
            <textarea
              {...control}
              rows={2}
              value={seat.systemPrompt}
              onChange={(event) => change({ systemPrompt: event.target.value })}
            />
          )}
        </Field>
      </details>
    </fieldset>
  );
}

/** The debaters of a new debate, two to four. */
export function SeatFields(props: Props) {
  const { draft, problems, change } = props;
  const { seats } = draft;
  const setSeat = (index: number, part: Partial<SeatDraft>) =>
    change({ seats: seats.map((seat, place) => (place === index ? { ...seat, ...part } : seat)) });
  const add = () => {
    const key = Math.max(...seats.map((seat) => seat.key)) + 1;
    const position = draft.format === 'roundtable' ? POSITIONS[seats.length % 3] : POSITIONS[seats.length % 2];
    change({ seats: [...seats, newSeat(key, position ?? 'for', '')] });
  };
  const remove = (index: number) => change({ seats: seats.filter((_, place) => place !== index) });
  return (
    <section className="form-part" aria-labelledby="debaters-title">
      <h2 id="debaters-title">Debaters</h2>
      {problems['participants'] !== undefined && <p className="field-problem">Debaters: {problems['participants']}</p>}
      {seats.map((seat, index) => (
        <SeatRow
          key={seat.key}
          seat={seat}
          index={index}
          props={props}
          change={(part) => setSeat(index, part)}
          remove={seats.length > FEWEST ? () => remove(index) : null}
        />
      ))}
      {seats.length < MOST && (
        <button type="button" className="form-add" onClick={add}>
          Add a debater
        </button>
      )}
    </section>
  );
}
