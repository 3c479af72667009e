import { afterEach, expect, test, vi } from 'vitest';
import { kept } from './storage';

afterEach(() => vi.unstubAllGlobals());

test('a full storage keeps nothing, and says so', () => {
  const full = {
    getItem: () => null,
    setItem: () => {
      throw new DOMException('full', 'QuotaExceededError');
    },
  };
  vi.stubGlobal('localStorage', full);

  expect(kept.setItem('a', 'b')).toBe(false);
  expect(kept.getItem('a')).toBeNull();
});

test('a browser without storage is read as if nothing was kept', () => {
  expect(kept.getItem('a')).toBeNull();
  expect(kept.setItem('a', 'b')).toBe(false);
  kept.removeItem('a');
  kept.removeAll('a');
});
