import type { ReactNode } from 'react';
import { Lamp, type LampState } from './Lamp';

/** A state by its name, with its lamp. */
export function Plate({ state, children }: { state: LampState; children: ReactNode }) {
  return (
    <span className="plate" data-state={state}>
      <Lamp state={state} isSilent />
      <span>{children}</span>
    </span>
  );
}
