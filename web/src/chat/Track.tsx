import type { TrackRow } from './track';

interface Props {
  row: TrackRow;
  isFirst: boolean;
  isLast: boolean;
  isLive: boolean;
}

const MAIN = 14;
const laneX = (lane: number): number => 32 + lane * 12;
const FAR = 20_000;

/** The track beside one message: the line, its station, and branches that leave, pass or join. */
export function Track({ row, isFirst, isLast, isLive }: Props) {
  const forks = [...new Map(row.forks.map((fork) => [fork.lane, fork])).values()];
  return (
    <svg className="track" aria-hidden="true" focusable="false">
      <path d={`M${MAIN} ${isFirst ? 14 : 0}V${isLast ? 14 : FAR}`} />
      {row.passing.map((lane) => (
        <path key={lane} className="lane" d={`M${laneX(lane)} 0V${FAR}`} />
      ))}
      {forks.map((fork) => (
        <path
          key={fork.branch}
          className={fork.isClosed ? 'lane' : 'lane open'}
          d={`M${MAIN} 14C${MAIN} 40 ${laneX(fork.lane)} 30 ${laneX(fork.lane)} 56V${FAR}`}
        />
      ))}
      {row.joining.map((lane) => (
        <path key={lane} className="lane" d={`M${laneX(lane)} -14C${laneX(lane)} 6 ${MAIN} -8 ${MAIN} 14`} />
      ))}
      <circle cx={MAIN} cy={14} r={5} className={isLive ? 'live' : ''} />
    </svg>
  );
}
