import { useId, type ReactNode } from 'react';

export interface FieldControl {
  id: string;
  className: string;
  'aria-invalid': boolean | undefined;
  'aria-describedby': string | undefined;
}

interface Props {
  label: string;
  hint?: string;
  /** What is wrong with the value; it is read after the label. */
  problem: string | undefined;
  children: (control: FieldControl) => ReactNode;
}

/** A person sees the value in the field: its repetition in the words of the server is left out. */
const VALUE = /^is .*; it (?=must be )/s;

/** A field of a form with its label, a hint, and its problem. */
export function Field({ label, hint, problem, children }: Props) {
  const id = useId();
  const described = [hint === undefined ? '' : `${id}-hint`, problem === undefined ? '' : `${id}-problem`]
    .filter(Boolean)
    .join(' ');
  return (
    <div className="debate-field" data-invalid={problem === undefined ? undefined : true}>
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        className: 'field',
        'aria-invalid': problem === undefined ? undefined : true,
        'aria-describedby': described === '' ? undefined : described,
      })}
      {problem !== undefined && (
        <p className="field-problem" id={`${id}-problem`}>
          {label} {problem.replace(VALUE, '')}
        </p>
      )}
      {hint !== undefined && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
