import '../style/runs.css';
import { useState } from 'react';
import { ErrorCard } from '../parts/ErrorCard';
import { navigate, pathOf } from '../route';
import { errorText, post, Problem, threadPath } from '../wire/http';
import type { OpenedThread } from '../wire/types';
import { attempt } from './actions';
import { createBody, EMPTY, firstModel, formProblem, type RunForm } from './settings';
import { AgentFields, LimitFields, ModeFields, ModelField, ToolFields } from './RunFields';
import { useCatalog, type Catalog } from './useCatalog';

function firstForm(catalog: Catalog): RunForm {
  return {
    ...EMPTY,
    model: firstModel(catalog.models),
    agents: catalog.agents.map((agent) => agent.name),
    tools: catalog.tools.map((tool) => tool.name),
  };
}

/** What was filled in and not started: it is kept until the page is reloaded. */
let keptForm: RunForm | null = null;

function RunFormView({ catalog }: { catalog: Catalog }) {
  const [form, setForm] = useState<RunForm>(() => keptForm ?? firstForm(catalog));
  const [problem, setProblem] = useState<{ text: string; code?: string } | null>(null);
  const [isSent, setSent] = useState(false);
  const change = (part: Partial<RunForm>) => {
    keptForm = { ...form, ...part };
    setForm(keptForm);
  };
  const start = async () => {
    const wrong = formProblem(form, catalog.agents);
    if (wrong !== null) return setProblem({ text: wrong });
    setSent(true);
    setProblem(null);
    try {
      const thread = await post<OpenedThread>('/threads', createBody(form, catalog.agents));
      await attempt(post(threadPath(thread.id, '/start'), { text: form.task.trim() }));
      keptForm = null;
      navigate(pathOf(thread));
    } catch (error) {
      setProblem({ text: errorText(error), ...(error instanceof Problem ? { code: error.code } : {}) });
      setSent(false);
    }
  };
  return (
    <form
      className="form run-form"
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <label className="label">
        Task
        <textarea
          className="field run-task-field"
          rows={4}
          value={form.task}
          placeholder="What is to be done, and how one sees that it is done"
          onChange={(event) => change({ task: event.target.value })}
        />
      </label>
      <ModelField form={form} catalog={catalog} onChange={change} />
      <AgentFields form={form} catalog={catalog} onChange={change} />
      <ModeFields form={form} onChange={change} />
      <LimitFields form={form} onChange={change} />
      <ToolFields form={form} catalog={catalog} onChange={change} />
      <div className="run-more">
        <label className="check">
          <input type="checkbox" checked={form.byRules} onChange={() => change({ byRules: !form.byRules })} /> Rules
          choose the next agent, instead of a model
        </label>
        <label className="check">
          <input type="checkbox" checked={form.dryRun} onChange={() => change({ dryRun: !form.dryRun })} /> Only make a
          plan
        </label>
      </div>
      {problem === null ? null : (
        <ErrorCard title="The run was not started" message={problem.text} code={problem.code} />
      )}
      <div className="run-form-actions">
        <button type="submit" className="primary" disabled={isSent}>
          Start the run
        </button>
      </div>
    </form>
  );
}

/** The form that starts a run. */
export function NewRun() {
  const { catalog, problem } = useCatalog();
  if (problem !== null)
    return <ErrorCard title="The server was not reached" message={problem.message} code={problem.code} />;
  return (
    <div className="screen-body">
      {catalog === null ? <p className="empty">Loading…</p> : <RunFormView catalog={catalog} />}
    </div>
  );
}
