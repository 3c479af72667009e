import { useActorRef, useSelector } from '@xstate/react';
import { useMemo, useState } from 'react';
import {
  type DriverOptions, type OnBusy, type StreamTransport, StreamingDriver, type StreamingView, streamReply, streamingView,
} from '../streaming/driver.ts';
import { streamingMachine } from '../streaming/machine.ts';
import type { StreamingContext, StreamingInput } from '../streaming/types.ts';

/** State and context of a conversation, and what people do in it. */
export interface UseStreamingMachineReturn extends StreamingView {
  send: (prompt: string, sessionId?: string | null, onBusy?: OnBusy) => Promise<StreamingContext>;
  retry: () => Promise<StreamingContext>;
  cancel: () => void;
  reset: () => void;
}

/** Run the streaming machine in this page, with the models of a transport.
 *
 * Transport and options are those of the first render. Leaving the page ends the machine and its listeners.
 */
export function useStreamingMachine(
  transport: StreamTransport, options: DriverOptions & { input?: StreamingInput } = {},
): UseStreamingMachineReturn {
  const [machine] = useState(() => streamingMachine.provide({ actors: { streamReply: streamReply(transport, options) } }));
  const actor = useActorRef(machine, { input: options.input });
  const [driver] = useState(() => new StreamingDriver(actor, transport, options));
  const snapshot = useSelector(actor, (current) => current);
  const view = useMemo(() => streamingView(snapshot), [snapshot]);
  const { send, retry, cancel, reset } = driver;
  return { ...view, send, retry, cancel, reset };
}
