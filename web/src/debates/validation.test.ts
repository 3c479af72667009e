import { expect, test } from 'vitest';
import { newDraft, settingsOf } from './draft';
import cases from './validation.cases.json';
import { problemsOf, type Settings } from './validation';

test.each(cases.map(({ settings, problems }) => [JSON.stringify(settings), settings as Settings, problems] as const))(
  '%s has the problems that the server finds',
  (_, settings, problems) => {
    expect(problemsOf(settings)).toEqual(problems);
  },
);

test('the form as it is opened lacks a topic only', () => {
  expect(problemsOf({ ...settingsOf(newDraft(), 'scripted:debate') }).map((one) => one.field)).toEqual(['topic']);
});

test('a filled form gives settings without empty ones', () => {
  const settings = settingsOf(
    { ...newDraft(), topic: 'Is a tram worth its price?', warnAtCost: '0.5' },
    'scripted:debate',
  );
  expect(settings).toMatchObject({
    warnAtCost: 0.5,
    participants: [{ id: 'for', model: 'scripted:debate' }, { id: 'against' }],
  });
  expect(settings).not.toHaveProperty('costLimit');
});
