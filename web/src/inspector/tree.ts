/** A tree of actors as it grows: its journal from the server, and its steps with their transitions. */
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { errorText, get, Problem } from '../wire/http';
import type { ActorTree, ChartReply, EntryList, StepReply } from '../wire/types';
import { type Chart, type Json, toChart } from './chart/model';
import type { Entry } from './entries';

export interface TreeState {
  tree: ActorTree | null;
  /** The loaded entries; those before them are loaded on demand. */
  entries: Entry[];
  isEnded: boolean;
  problem: string | null;
}

const PAGE = 500;
const RETRY_MS = 1_500;
const EMPTY: TreeState = { tree: null, entries: [], isEnded: false, problem: null };

export const actorPath = (id: string, rest = ''): string => `/actors/${encodeURIComponent(id)}${rest}`;

/** Follows the journal of a tree in a visible tab, as long as a component shows it. */
export class TreeSource {
  private state = EMPTY;
  private readonly listeners = new Set<() => void>();
  private stream: EventSource | null = null;
  private arrived: Entry[] = [];
  private frame = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly id: string) {}

  readonly snapshot = (): TreeState => this.state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    if (this.listeners.size === 1) this.start();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) this.stop();
    };
  };

  readonly loadEarlier = async (): Promise<void> => {
    const first = this.state.entries[0]?.seq ?? 1;
    const after = Math.max(0, first - 1 - PAGE);
    const page = await get<EntryList>(actorPath(this.id, `/journal?limit=${Math.min(PAGE, first - 1)}&after=${after}`));
    this.set({ entries: [...(page.items as Entry[]), ...this.state.entries] });
  };

  private start(): void {
    document.addEventListener('visibilitychange', this.watch);
    void this.load();
  }

  private stop(): void {
    document.removeEventListener('visibilitychange', this.watch);
    clearTimeout(this.timer);
    this.close();
  }

  private readonly watch = (): void => {
    if (document.hidden) this.close();
    else if (this.stream === null && this.state.tree !== null) this.follow();
  };

  private async load(): Promise<void> {
    try {
      const tree = await get<ActorTree>(actorPath(this.id));
      const after = Math.max(0, tree.seq - PAGE);
      const page = await get<EntryList>(actorPath(this.id, `/journal?limit=${PAGE}&after=${after}`));
      this.set({ tree, entries: page.items as Entry[], problem: null, isEnded: false });
      if (this.listeners.size && !document.hidden) this.follow();
    } catch (error) {
      this.set({ problem: errorText(error) });
      if (error instanceof Problem && error.recoverable && this.listeners.size) this.retry();
    }
  }

  private follow(): void {
    this.close();
    const last = this.state.entries.at(-1)?.seq ?? 0;
    const stream = new EventSource(actorPath(this.id, `/journal?after=${last}`));
    this.stream = stream;
    stream.addEventListener('message', (event: MessageEvent<string>) => this.take(JSON.parse(event.data) as Entry));
    stream.addEventListener('moved', () => void this.load());
    // The browser connects again by itself, unless the server has refused it, as one that restarts does.
    stream.addEventListener('error', () => {
      if (stream === this.stream && stream.readyState === EventSource.CLOSED) this.retry();
    });
    stream.addEventListener('ended', () => {
      this.close();
      this.set({ isEnded: true });
    });
    stream.addEventListener('problem', (event: MessageEvent<string>) => {
      this.close();
      this.set({ problem: (JSON.parse(event.data) as { detail: string }).detail });
    });
  }

  private retry(): void {
    this.close();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.load(), RETRY_MS);
  }

  private close(): void {
    this.stream?.close();
    this.stream = null;
  }

  /** Entries of a frame are shown together. */
  private take(entry: Entry): void {
    this.arrived.push(entry);
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      const last = this.state.entries.at(-1)?.seq ?? 0;
      const fresh = this.arrived.filter((each) => each.seq > last);
      this.arrived = [];
      this.set({ entries: [...this.state.entries, ...fresh] });
    });
  }

  private set(change: Partial<TreeState>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.listeners) listener();
  }
}

export function useTree(id: string): TreeState & { loadEarlier: () => Promise<void> } {
  const source = useMemo(() => new TreeSource(id), [id]);
  const state = useSyncExternalStore(source.subscribe, source.snapshot);
  return useMemo(() => ({ ...state, loadEarlier: source.loadEarlier }), [state, source]);
}

const MOST_STEPS = 100;
const steps = new Map<string, StepReply>();

export async function loadStep(id: string, history: string, step: number): Promise<StepReply> {
  const key = `${history} ${id} ${step}`;
  const known = steps.get(key);
  if (known) return known;
  const reply = await get<StepReply>(actorPath(id, `/step?step=${step}`));
  steps.set(key, reply);
  const [oldest] = steps.keys();
  if (steps.size > MOST_STEPS && oldest !== undefined) steps.delete(oldest);
  return reply;
}

/** A step of a tree. While a step is loaded, the one before is shown; of steps that come faster, some are left out. */
export function useStep(
  id: string,
  history: string | null,
  step: number,
): { step: StepReply | null; problem: string | null } {
  const [state, setState] = useState<{ step: StepReply | null; problem: string | null }>({ step: null, problem: null });
  const wanted = useRef(0);
  const isLoading = useRef(false);
  const load = useCallback(async (): Promise<void> => {
    if (history === null || isLoading.current) return;
    isLoading.current = true;
    for (let loaded = 0; wanted.current > 0 && loaded !== wanted.current;) {
      loaded = wanted.current;
      try {
        setState({ step: await loadStep(id, history, loaded), problem: null });
      } catch (error) {
        setState((before) => ({ ...before, problem: errorText(error) }));
        if (error instanceof Problem && error.recoverable) {
          await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
          loaded = 0;
        }
      }
    }
    isLoading.current = false;
  }, [id, history]);
  useEffect(() => {
    wanted.current = step;
    void load();
    return () => {
      wanted.current = 0;
    };
  }, [load, step]);
  return state;
}

export interface LoadedChart {
  chart: Chart;
  hash: string;
  config: Json;
  schemas: Record<string, Json>;
}

const charts = new Map<string, Promise<LoadedChart>>();

export function loadChart(machine: string, hash: string): Promise<LoadedChart> {
  const known = charts.get(hash);
  if (known) return known;
  const loading = get<ChartReply>(`/charts/${encodeURIComponent(machine)}?hash=${encodeURIComponent(hash)}`).then(
    (reply) => ({
      chart: toChart(reply.config as Json),
      hash,
      config: reply.config as Json,
      schemas: reply.events as Record<string, Json>,
    }),
  );
  charts.set(hash, loading);
  loading.catch(() => charts.delete(hash));
  return loading;
}

export function useChart(
  machine: string | null,
  hash: string | null,
): { loaded: LoadedChart | null; problem: string | null } {
  const [state, setState] = useState<{ loaded: LoadedChart | null; problem: string | null }>({
    loaded: null,
    problem: null,
  });
  useEffect(() => {
    if (machine === null || hash === null) return undefined;
    let isGone = false;
    loadChart(machine, hash).then(
      (loaded) => {
        if (!isGone) setState({ loaded, problem: null });
      },
      (error: unknown) => {
        if (!isGone) setState({ loaded: null, problem: errorText(error) });
      },
    );
    return () => {
      isGone = true;
    };
  }, [machine, hash]);
  return state;
}
