/** The theme: that of the system, until a person chooses one. */
import { announce } from './Status';
import { kept } from './storage';

const NAME = 'antiphon.theme';

export type Theme = 'light' | 'dark';

export const theme = (): Theme => (document.documentElement.dataset['theme'] === 'dark' ? 'dark' : 'light');

/** Change with the system, as long as no theme was chosen. */
export function followSystemTheme(): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (event) => {
    if (kept.getItem(NAME) === null)
      document.documentElement.dataset['theme'] = event.matches ? 'dark' : 'light';
  });
}

export function switchTheme(): void {
  const next: Theme = theme() === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset['theme'] = next;
  kept.setItem(NAME, next);
  announce(`${next} theme`);
}
