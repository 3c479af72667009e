import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defaultClientConditions, defineConfig } from 'vite';

/** The page of `tests/e2e/test_hooks.py`, which builds it into a folder of its own. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/hooks/',
  plugins: [react()],
  resolve: { conditions: ['antiphon-source', ...defaultClientConditions] },
});
