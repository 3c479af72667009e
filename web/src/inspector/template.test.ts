import { expect, test } from 'vitest';
import { eventTemplate } from './template';

test('an event has the keys that its schema requires', () => {
  const schema = {
    type: 'object',
    properties: {
      type: { const: 'SAY' },
      text: { type: 'string' },
      n: { type: ['integer', 'null'] },
      kind: { enum: ['a', 'b'] },
      part: { $ref: '#/$defs/Part' },
      more: { type: 'string' },
    },
    required: ['type', 'text', 'n', 'kind', 'part'],
    $defs: { Part: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] } },
  };

  expect(eventTemplate('SAY', schema)).toEqual({ type: 'SAY', text: '', n: 0, kind: 'a', part: { ok: false } });
});

test('an event without a schema has its type alone', () => {
  expect(eventTemplate('GO', undefined)).toEqual({ type: 'GO' });
});
