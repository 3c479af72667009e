import { formatSeconds, formatCount } from '../parts/format';
import { formatUsd } from './figures';
import { letterOf } from './reading';
import type { Debate } from './types';

const HEADS = ['turns', 'words', 'tokens', 'a turn', 'cost'];

/** The turns of each debater in numbers, and the cost of all. */
export function Totals({ debate }: { debate: Debate }) {
  const rows = debate.participants.flatMap((one) => {
    const facts = debate.statistics[one.id];
    return facts === undefined ? [] : [{ one, facts }];
  });
  if (debate.state !== 'completed' || rows.every(({ facts }) => facts.turns === 0)) return null;
  return (
    <section className="totals debate-wide" aria-labelledby="totals-title">
      <h2 id="totals-title">Totals</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">debater</th>
            {HEADS.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ one, facts }) => (
            <tr key={one.id} className={`side-${letterOf(debate, one.id)}`}>
              <th scope="row">{one.name}</th>
              <td>{facts.turns}</td>
              <td>{formatCount(facts.words)}</td>
              <td>{formatCount(facts.tokens)}</td>
              <td>{formatSeconds(facts.averageLatencyMs)}</td>
              <td>{formatUsd(facts.cost)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">in total</th>
            <td colSpan={4}>with judge and cut turns</td>
            <td>{formatUsd(debate.costTracker.totalCost)}</td>
          </tr>
        </tfoot>
      </table>
    </section>
  );
}
