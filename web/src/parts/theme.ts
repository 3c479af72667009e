/** The theme: that of the system, until a person chooses one. */
import { announce } from './Status';

export type Theme = 'light' | 'dark';

export const theme = (): Theme => (document.documentElement.dataset['theme'] === 'dark' ? 'dark' : 'light');

export function switchTheme(): void {
  const next: Theme = theme() === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset['theme'] = next;
  try {
    localStorage.setItem('antiphon.theme', next);
  } catch {
    // Without storage the choice holds as long as the page.
  }
  announce(`${next} theme`);
}
