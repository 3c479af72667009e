import '../style/debates.css';
import { useRef, useState, type FormEvent } from 'react';
import { ErrorCard } from '../parts/ErrorCard';
import { useModels } from '../parts/models';
import { navigate, pathOf } from '../route';
import { post, Problem, threadPath } from '../wire/http';
import type { OpenedThread } from '../wire/types';
import { choices, firstModel, newDraft, settingsOf, type Draft } from './draft';
import { LimitFields } from './LimitFields';
import { JudgeFields, TopicFields } from './MainFields';
import { SeatFields, type Problems } from './SeatFields';
import { problemsOf, type FieldProblem } from './validation';

/** What was filled in and not started: it is kept until the page is reloaded. */
let keptDraft: Draft | null = null;

function byField(problems: readonly FieldProblem[]): Problems {
  return Object.fromEntries(problems.toReversed().map(({ field, problem }) => [field, problem]));
}

/** Create a debate and start it; return the problems of its fields, if any. */
async function begin(settings: object): Promise<FieldProblem[]> {
  let page: OpenedThread;
  try {
    page = await post<OpenedThread>('/threads', { kind: 'debate', ...settings });
  } catch (error) {
    const fields = error instanceof Problem ? error.reply.fields : undefined;
    if (fields === undefined || fields.length === 0) throw error;
    return fields.map((one) => ({ field: one['field'] ?? '', problem: one['problem'] ?? '' }));
  }
  // A debate that could not be started can be started from its screen.
  await post(threadPath(page.id, '/start')).catch(() => undefined);
  keptDraft = null;
  navigate(pathOf(page));
  return [];
}

/** The form of a new debate. */
export function NewDebate() {
  const [draft, setDraft] = useState(() => keptDraft ?? newDraft());
  const [problems, setProblems] = useState<Problems>({});
  const [failure, setFailure] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const models = useModels() ?? [];
  const fallback = firstModel(models);
  const change = (part: Partial<Draft>) => {
    const next = { ...draft, ...part };
    keptDraft = next;
    setDraft(next);
    // Once the form was refused, its problems follow what is typed.
    if (Object.keys(problems).length > 0) setProblems(byField(problemsOf(settingsOf(next, fallback))));
  };
  const refuse = (all: readonly FieldProblem[]) => {
    setProblems(byField(all));
    requestAnimationFrame(() =>
      form.current?.querySelector<HTMLElement>('[aria-invalid="true"], .field-problem')?.focus(),
    );
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setFailure(null);
    const settings = settingsOf(draft, fallback);
    const wrong = problemsOf({ ...settings });
    if (wrong.length > 0) return refuse(wrong);
    setBusy(true);
    try {
      refuse(await begin(settings));
    } catch (error) {
      setFailure(error instanceof Problem ? error : new Problem({ code: 'internal', detail: String(error) }));
    } finally {
      setBusy(false);
    }
  };
  const count = Object.keys(problems).length;
  return (
    <div className="screen-body debate-form-box">
      <form className="debate-form" ref={form} onSubmit={(event) => void submit(event)} noValidate>
        <TopicFields draft={draft} problems={problems} change={change} />
        <SeatFields draft={draft} models={models} fallback={fallback} problems={problems} change={change} />
        <JudgeFields draft={draft} problems={problems} change={change} fallback={fallback} />
        <LimitFields draft={draft} problems={problems} change={change} />
        <datalist id="debate-models">
          {choices(models).map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        {failure !== null && (
          <ErrorCard title="The debate was not started" message={failure.message} code={failure.code} />
        )}
        <div className="form-end">
          <button type="submit" className="primary" disabled={isBusy}>
            Start the debate
          </button>
          <p className="field-problem" role="status">
            {count > 0
              ? `${count === 1 ? 'One setting is' : `${count} settings are`} wrong; the debate was not started.`
              : ''}
          </p>
        </div>
      </form>
    </div>
  );
}
