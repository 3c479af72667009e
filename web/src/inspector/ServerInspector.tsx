import { useCallback, useMemo } from 'react';
import { ErrorCard } from '../parts/ErrorCard';
import { Link } from '../parts/Link';
import { useKeptInQuery } from '../route';
import { post } from '../wire/http';
import type { StepReply } from '../wire/types';
import { ActorList } from './ActorList';
import { isObject, type Json, transitionId } from './chart/model';
import { journalOf, saveFile, testOf } from './copies';
import { writeJournal } from './files';
import { StepActions } from './StepActions';
import { actorPath, useChart, useStep, useTree } from './tree';
import { Workbench } from './Workbench';

/** A tree of the server, followed live. */
export function ServerInspector({ id }: { id: string }) {
  const { tree, entries, isEnded, problem, loadEarlier } = useTree(id);
  const [actorName, setActorName] = useKeptInQuery('actor');
  const [stepName, setStepName] = useKeptInQuery('step');
  const address = actorName ?? '';
  const pinned = parseStep(stepName);
  const setPinned = useCallback((next: number | null) => setStepName(next === null ? null : String(next)), [setStepName]);
  const last = entries.at(-1)?.seq ?? 0;
  const current = pinned ?? last;
  const history = tree ? tree.cursor.slice(0, tree.cursor.lastIndexOf(':')) : null;
  const { step, problem: stepProblem } = useStep(id, history, current);
  const { step: previous } = useStep(id, history, current - 1);
  const actor = step?.actors.find((row) => row.address === address) ?? null;
  const { loaded, problem: chartProblem } = useChart(actor?.machine ?? null, actor?.hash ?? null);
  const taken = useMemo(() => takenBy(step, address), [step, address]);
  const send = useCallback(
    async (event: Json) => void (await post(actorPath(id, '/events'), { event, to: address })),
    [id, address],
  );
  const isNext = previous !== null && step !== null && previous.entry.seq === step.entry.seq - 1;
  const fault = problem ?? stepProblem ?? chartProblem;
  const first = entries[0]?.seq ?? 1;
  const sending = { can: actor?.can ?? [], schemas: loaded?.schemas ?? {}, isLive: pinned === null && !isEnded, send };
  const writeTest = async (): Promise<string> =>
    testOf(id, history ?? '', current, new URLSearchParams(location.search).get('of'));
  const save = async (): Promise<void> =>
    saveFile(`${id}.journal.json`, writeJournal(await journalOf(id, history ?? '', last)));
  if (tree === null && problem !== null) return <NoActor id={id} problem={problem} />;
  return (
    <>
      <ActorList
        root={id}
        actors={step?.actors ?? tree?.actors ?? []}
        address={address}
        onSelect={(name) => setActorName(name || null)}
        version={isEnded ? 1 : 0}
      />
      <Workbench
        title={address || tree?.machine || id}
        machine={address ? `${actor?.machine ?? actor?.src ?? ''} in ${id}` : id}
        status={actor?.status ?? null}
        value={(actor?.value ?? null) as Json}
        chart={actor && loaded?.hash === actor.hash ? loaded : null}
        missing={missingText(step, address, actor?.machine ?? null)}
        taken={taken}
        context={contextOf(step, address)}
        before={isNext ? contextOf(previous, address) : undefined}
        entries={entries}
        loadEarlier={first > 1 ? () => void loadEarlier() : null}
        step={pinned}
        onStep={setPinned}
        sending={sending}
        actions={tree === null ? null : <StepActions id={id} step={current} writeTest={writeTest} save={save} />}
        notice={
          fault ? (
            <p role="alert" className="notice">
              {fault}
            </p>
          ) : null
        }
      />
    </>
  );
}

/** A tree that cannot be read: why, and the way back. */
function NoActor({ id, problem }: { id: string; problem: string }) {
  return (
    <>
      <ActorList root={null} actors={[]} address="" onSelect={() => undefined} version={0} />
      <section className="bench alone" aria-label="Chart">
        <header className="bench-head">
          <h1>{id}</h1>
        </header>
        <div className="screen-body">
          <ErrorCard
            title="This actor cannot be shown"
            message={problem}
            actions={
              <Link className="button" to="/inspector">
                All actors
              </Link>
            }
          />
        </div>
      </section>
    </>
  );
}

/** The number of a step in the address; null is the last step, as it grows. */
const parseStep = (text: string | null): number | null => (text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null);

function missingText(step: StepReply | null, address: string, machine: string | null): string {
  if (!step) return 'Loading…';
  if (!step.actors.some((row) => row.address === address))
    return `The actor ${address} does not exist at step ${step.entry.seq}.`;
  return machine === null ? `The actor ${address} is a task, which has no chart.` : 'Loading the chart…';
}

function takenBy(step: StepReply | null, address: string): Set<string> {
  const rows = step?.taken.filter((row) => row.actor === address) ?? [];
  return new Set(rows.map((row) => transitionId(row.source, row.event, row.index)));
}

/** The context of an actor in the snapshot of its tree. */
export function contextOf(step: StepReply | null, address: string): Json | undefined {
  let snapshot: Json | undefined = step ? (step.snapshot as Json) : undefined;
  for (const part of address ? address.split('/').map(decodeURIComponent) : []) {
    const children: Json | undefined = isObject(snapshot) ? snapshot['children'] : undefined;
    const child: Json | undefined = isObject(children) ? children[part] : undefined;
    snapshot = isObject(child) ? child['snapshot'] : undefined;
  }
  return isObject(snapshot) ? snapshot['context'] : undefined;
}
