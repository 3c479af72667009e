import { useId } from 'react';
import type { Catalog } from './useCatalog';
import { MODES, type RunForm } from './settings';

interface Props {
  form: RunForm;
  catalog: Catalog;
  onChange: (change: Partial<RunForm>) => void;
}

const toggle = (names: readonly string[], name: string): string[] =>
  names.includes(name) ? names.filter((item) => item !== name) : [...names, name];

export function ModelField({ form, catalog, onChange }: Props) {
  const id = useId();
  const usable = catalog.models.filter((model) => model.usable && !model.reference.endsWith('*'));
  return (
    <label className="label">
      Model
      <input
        className="field mono"
        list={id}
        value={form.model}
        placeholder="the default of the server"
        spellCheck={false}
        onChange={(event) => onChange({ model: event.target.value })}
      />
      <datalist id={id}>
        {usable.map((model) => (
          <option key={model.reference} value={model.reference} />
        ))}
      </datalist>
      <small>Of the arbiter, and of agents that name none.</small>
    </label>
  );
}

export function AgentFields({ form, catalog, onChange }: Props) {
  return (
    <fieldset className="run-choices">
      <legend>Agents</legend>
      {catalog.agents.map((agent) => (
        <label key={agent.name} className="run-choice">
          <input
            type="checkbox"
            checked={form.agents.includes(agent.name)}
            onChange={() => onChange({ agents: toggle(form.agents, agent.name) })}
          />
          <span>
            <strong>{agent.name}</strong>
            <small>{agent.whenToUse}</small>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

export function ModeFields({ form, onChange }: Omit<Props, 'catalog'>) {
  return (
    <fieldset className="run-choices">
      <legend>Permissions</legend>
      {MODES.map(({ mode, label, note }) => (
        <label key={mode} className="run-choice">
          <input type="radio" name="mode" checked={form.mode === mode} onChange={() => onChange({ mode })} />
          <span>
            <strong>{label}</strong>
            <small>{note}</small>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

export function LimitFields({ form, onChange }: Omit<Props, 'catalog'>) {
  const fields = [
    ['maxIterations', 'Turns', 'of agents'],
    ['maxFailures', 'Failures', 'in a row'],
    ['maxCostUsd', 'Cost', 'USD; empty: none'],
    ['minutes', 'Minutes', 'empty: none'],
  ] as const;
  return (
    <fieldset className="run-limits">
      <legend>Limits</legend>
      {fields.map(([name, label, note]) => (
        <label key={name} className="label">
          {label}
          <input
            className="field mono"
            inputMode="decimal"
            value={form[name]}
            onChange={(event) => onChange({ [name]: event.target.value })}
          />
          <small>{note}</small>
        </label>
      ))}
    </fieldset>
  );
}

export function ToolFields({ form, catalog, onChange }: Props) {
  if (catalog.tools.length === 0) {
    return (
      <section className="run-choices" aria-label="Workspace">
        <h2>Workspace</h2>
        <p className="quiet-text">
          This server has none, so agents use no tools. <code>antiphon serve --workspace FOLDER</code> lets them work in
          a folder.
        </p>
      </section>
    );
  }
  return (
    <fieldset className="run-choices">
      <legend>Workspace</legend>
      <p className="quiet-text">Agents work in the folder of the server, with these tools.</p>
      <div className="run-tools">
        {catalog.tools.map((tool) => (
          <label key={tool.name} className="check" title={tool.description}>
            <input
              type="checkbox"
              checked={form.tools.includes(tool.name)}
              onChange={() => onChange({ tools: toggle(form.tools, tool.name) })}
            />
            <span className="mono">{tool.name}</span>
            {tool.risk === 'read' ? null : (
              <span className="risk" data-risk={tool.risk}>
                {tool.risk}
              </span>
            )}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
