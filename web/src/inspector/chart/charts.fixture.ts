// Charts that the tests draw: those of the package, and a large one.
import type { Json } from './model';
import threadJson from '../../../../src/antiphon/threads/machine/thread.json';
import streamingJson from '../../../../src/antiphon/threads/machine/streaming.json';
import toolsJson from '../../../../src/antiphon/threads/machine/tools.json';
import debateJson from '../../../../src/antiphon/debate/machine/debate.json';
import orchestratorJson from '../../../../src/antiphon/agents/machine/orchestrator.json';
import flowJson from '../../../../src/antiphon/chat/machine/flow.json';

export const thread = threadJson as unknown as Json;
export const streaming = streamingJson as unknown as Json;
export const tools = toolsJson as unknown as Json;
export const debate = debateJson as unknown as Json;
export const orchestrator = orchestratorJson as unknown as Json;
export const flow = flowJson as unknown as Json;
export const large = makeLarge();

/** A chart of 60 states in six groups, two of them parallel. */
function makeLarge(): Json {
  const states: { [key: string]: Json } = {};
  for (let group = 0; group < 6; group++) {
    const inner: { [key: string]: Json } = {};
    for (let number = 0; number < 9; number++) {
      inner[`s${number}`] =
        group % 3 === 2
          ? { initial: 'a', states: { a: {} } }
          : { on: { NEXT: `s${(number + 1) % 9}`, JUMP: `#large.g${(group + 1) % 6}` } };
    }
    states[`g${group}`] = group % 3 === 2 ? { type: 'parallel', states: inner } : { initial: 's0', states: inner };
  }
  return { id: 'large', initial: 'g0', states };
}
