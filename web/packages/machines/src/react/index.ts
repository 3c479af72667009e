export { useDebateMachine, useDebateState } from './debate.ts';
export { type UseStreamingMachineReturn, useStreamingMachine } from './streaming.ts';
export { type UseThreadMachineReturn, useThreadMachine } from './thread.ts';
export { useStore } from './store.ts';
