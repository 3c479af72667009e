import { describe, expect, test } from 'vitest';
import * as charts from './charts.fixture';
import { type Ladder, type LadderBox, layOutLadder, LINE } from './ladder';
import { toChart } from './model';
import { assignColumns } from './columns';
import { cells, wrap } from './wrapping';

const isInside = (inner: LadderBox, outer: LadderBox): boolean =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width + 0.01 &&
  inner.y + inner.height <= outer.y + outer.height + 0.01;
const overlap = (a: LadderBox, b: LadderBox): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

function problems(ladder: Ladder): string[] {
  const found: string[] = [];
  const boxes = new Map(ladder.boxes.map((box) => [box.state.id, box]));
  for (const box of ladder.boxes) {
    const parent = box.state.parent && boxes.get(box.state.parent.id);
    if (parent && !isInside(box, parent)) found.push(`${box.state.id} leaves its parent`);
    for (const other of ladder.boxes) {
      if (other !== box && other.state.parent === box.state.parent && overlap(box, other))
        found.push(`${box.state.id} overlaps ${other.state.id}`);
    }
    const [first] = box.state.children;
    const child = first && boxes.get(first.id);
    const last = box.rows.at(-1);
    if (child && last && last.y + last.lines.length * LINE - LINE / 2 > child.y)
      found.push(`rows of ${box.state.id} cover ${child.state.id}`);
  }
  return found;
}

describe('a ladder', () => {
  test.each(Object.entries(charts))('of %s has nothing that overlaps', (_, json) => {
    expect(problems(layOutLadder(toChart(json)))).toEqual([]);
  });

  test('of more than 60 states has nothing that overlaps', () => {
    const chart = toChart(charts.large);
    const ladder = layOutLadder(chart);

    expect(chart.states.size).toBeGreaterThan(60);
    expect(problems(ladder)).toEqual([]);
  });

  test('has lines of different targets in different columns where they pass each other', () => {
    const ladder = layOutLadder(toChart(charts.streaming));
    const lane = (path: string): string => /H([\d.]+)V/.exec(path)?.[1] ?? '';
    const clashes = ladder.lines.flatMap((a) =>
      ladder.lines.filter((b) => a.target !== b.target && lane(a.path) === lane(b.path) && passes(a, b)),
    );

    expect(ladder.lines.length).toBeGreaterThan(10);
    expect(clashes).toEqual([]);
  });

  test('has a line in the colour of its target, from a row with the name of that target', () => {
    const ladder = layOutLadder(
      toChart({ id: 'm', initial: 'a', states: { a: { on: { GO: 'b', UP: 'b', STAY: { actions: 'note' } } }, b: {} } }),
    );
    const rows = ladder.boxes[1]?.rows.map((row) => row.lines);

    expect(rows).toEqual([['STAY / note'], ['GO, UP →\u00a0b']]);
    expect(ladder.lines.map((line) => [line.source, line.target, line.transitions])).toEqual([
      ['m.a', 'm.b', ['m.a GO 0', 'm.a UP 0']],
    ]);
  });

  test('tells which part of wrapped lines names the events', () => {
    const events = ['FIRST_LONG_EVENT', 'SECOND_LONG_EVENT', 'THIRD_LONG_EVENT', 'FOURTH_LONG_EVENT'];
    const on = Object.fromEntries(events.map((event) => [event, { guard: 'isAllowed' }]));
    const [row] = layOutLadder(toChart({ id: 'm', initial: 'a', states: { a: { on } } })).boxes[1]?.rows ?? [];

    expect(row?.lines.map((line, index) => line.slice(0, row.heads[index]).trim())).toEqual([
      'FIRST_LONG_EVENT, SECOND_LONG_EVENT, THIRD_LONG_EVENT,',
      'FOURTH_LONG_EVENT',
    ]);
  });

  test('has regions side by side, and no line that leaves one', () => {
    const chart = toChart({
      id: 'm',
      type: 'parallel',
      states: {
        l: { initial: 'a', states: { a: { on: { X: 'b', OUT: '#m.r' } }, b: {} } },
        r: { initial: 'c', states: { c: {} } },
      },
    });
    const ladder = layOutLadder(chart);
    const [, l, , , r] = ladder.boxes;

    expect(r && l && r.x > l.x + l.width && r.y === l.y).toBe(true);
    expect(ladder.lines.map((line) => line.target)).toEqual(['m.l.b']);
  });
});

function passes(a: Ladder['lines'][number], b: Ladder['lines'][number]): boolean {
  const [aTop, aEnd, bTop, bEnd] = [a, b].flatMap((line) => [
    Math.min(line.start.y, line.end.y),
    Math.max(line.start.y, line.end.y),
  ]);
  return (aTop ?? 0) < (bEnd ?? 0) && (bTop ?? 0) < (aEnd ?? 0);
}

test('columns are shared by spans that do not touch', () => {
  const columns = assignColumns(
    new Map([
      ['a', { top: 0, bottom: 10 }],
      ['b', { top: 20, bottom: 40 }],
      ['c', { top: 5, bottom: 60 }],
    ]),
  );

  expect(Object.fromEntries(columns)).toEqual({ a: 0, b: 0, c: 1 });
});

test('long rows are wrapped between words, and wide characters count twice', () => {
  expect(wrap('aaa bbb ccc', 7)).toEqual(['aaa bbb', '    ccc']);
  expect(cells('日本a')).toBe(5);
});
