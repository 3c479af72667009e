import { Lamp, type LampState } from './Lamp';

interface Station {
  name: string;
  state: LampState;
  /** The event that leads here. */
  event?: string;
}

/** States of a machine along a track, for screens that have nothing else to show yet. */
export function StateTrack({ label, stations }: { label: string; stations: readonly Station[] }) {
  return (
    <ol className="state-track" aria-label={label}>
      {stations.map((station) => (
        <li key={station.name}>
          {station.event === undefined ? null : <span className="state-event">{station.event}</span>}
          <span className="plate">
            <Lamp state={station.state} isSilent />
            {station.name}
          </span>
        </li>
      ))}
    </ol>
  );
}
