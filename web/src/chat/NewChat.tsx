import { useEffect, useRef, useState } from 'react';
import { modelName } from '../parts/format';
import { lastModel } from '../parts/lastModel';
import { ModelPicker } from '../parts/ModelPicker';
import { firstModel, settingsFor, useModels, windowOf } from '../parts/models';
import { StateTrack } from '../parts/StateTrack';
import { useStored } from '../parts/stored';
import { notifyError } from '../parts/Toasts';
import { navigate, pathOf } from '../route';
import { get, post, remove, threadPath } from '../wire/http';
import { useRead } from '../wire/store';
import type { ModelList, OpenedThread, ToolList } from '../wire/types';
import { Composer, type ComposerHandle } from './Composer';
import { textOf, type Part } from './content';

const MOST_BRANCHES = 100;
const STATIONS = [
  { name: 'idle', state: 'idle' },
  { name: 'sending', state: 'idle', event: 'your message' },
  { name: 'streaming', state: 'idle', event: 'first word' },
  { name: 'complete', state: 'idle', event: 'last word' },
] as const;

async function createChat(
  model: string,
  window: number | null,
  system: string,
  tools: readonly string[],
  parts: readonly Part[],
): Promise<void> {
  const settings = {
    kind: 'chat',
    model,
    onBusy: 'queue',
    maxBranches: MOST_BRANCHES,
    ...settingsFor(window),
    ...(system.trim() === '' ? {} : { system: system.trim() }),
    ...(tools.length === 0 ? {} : { tools, consent: { mode: 'ask' } }),
  };
  const page = await post<OpenedThread>('/threads', settings);
  const body = parts.every((part) => part.type === 'text') ? { text: textOf(parts) } : { parts };
  try {
    await post(threadPath(page.id, '/messages'), body);
  } catch (error) {
    // Without its first message nobody needs the thread.
    await remove(threadPath(page.id)).catch(() => undefined);
    throw error;
  }
  navigate(pathOf(page));
}

/** A new chat begins with its first message. */
export function NewChat() {
  const models = useModels();
  const tools = useRead<ToolList>('/tools').value?.items ?? [];
  const last = useStored(lastModel);
  const model = firstModel(models, last);
  const [system, setSystem] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [isPicking, setPicking] = useState(false);
  const composer = useRef<ComposerHandle>(null);
  useEffect(() => composer.current?.focus(), []);
  const send = async (parts: readonly Part[]): Promise<boolean> => {
    try {
      // A message may be written before the models are known.
      const rows = models ?? (await get<ModelList>('/models')).items;
      const used = model ?? firstModel(rows, last);
      if (used === null) throw new Error('No model can be used here; choose one by its name');
      await createChat(used, windowOf(rows, used), system, chosen, parts);
      return true;
    } catch (error) {
      notifyError(error);
      return false;
    }
  };
  return (
    <div className="screen-body new-chat" onDrop={(event) => composer.current?.attach(event.dataTransfer.files)}>
      <div className="form">
        <p className="lead">
          Say something to begin. Every step is kept: the conversation can be branched, rewound and continued at any
          time.
        </p>
        <div className="label">
          Model
          <div>
            <button type="button" onClick={() => setPicking(true)}>
              <span className="mono">
                {model === null ? (models === null ? '…' : 'choose a model') : modelName(model)}
              </span>
            </button>
          </div>
        </div>
        <details className="more">
          <summary>System prompt and tools</summary>
          <label className="label">
            System prompt
            <textarea className="field" rows={3} value={system} onChange={(event) => setSystem(event.target.value)} />
          </label>
          <fieldset className="tools">
            <legend>Tools</legend>
            {tools.length === 0 ? (
              <p className="note">This server offers no tools. With --workspace FOLDER it does.</p>
            ) : null}
            {tools.map((tool) => (
              <label key={tool.name} className="check">
                <input
                  type="checkbox"
                  checked={chosen.includes(tool.name)}
                  onChange={(event) =>
                    setChosen(
                      event.target.checked ? [...chosen, tool.name] : chosen.filter((name) => name !== tool.name),
                    )
                  }
                />
                <span>
                  <span className="mono">{tool.name}</span>{' '}
                  {tool.risk === null ? null : (
                    <span className="risk" data-risk={tool.risk}>
                      {tool.risk}
                    </span>
                  )}
                  <br />
                  <small className="note">{tool.description}</small>
                </span>
              </label>
            ))}
          </fieldset>
        </details>
      </div>
      <StateTrack label="The states of a reply" stations={STATIONS} />
      <Composer
        ref={composer}
        draftName="new"
        placeholder="Say something"
        isRunning={false}
        canSend={model !== null || models === null}
        onSend={send}
      />
      {isPicking ? <ModelPicker current={model} onPick={lastModel.set} onClose={() => setPicking(false)} /> : null}
    </div>
  );
}
