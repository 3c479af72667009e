import react from '@vitejs/plugin-react';
import { defaultClientConditions, defineConfig } from 'vite';
import { licenses } from './licenses.ts';
import manifest from './package.json' with { type: 'json' };

const SERVER = 'http://127.0.0.1:8787';

export default defineConfig({
  plugins: [react(), licenses(Object.keys(manifest.dependencies))],
  // Packages of this folder are built from their source.
  resolve: { conditions: ['antiphon-source', ...defaultClientConditions] },
  build: {
    outDir: '../src/antiphon/web/static',
    emptyOutDir: true,
    target: 'es2022',
    sourcemap: false,
    // The policy of the page allows no data: addresses but for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'react', test: /node_modules[\\/](react|react-dom|scheduler)[\\/]/ },
            { name: 'xstate', test: /node_modules[\\/](xstate|@xstate)[\\/]/ },
            { name: 'markdown', test: /node_modules[\\/](marked|dompurify)[\\/]/ },
          ],
        },
      },
    },
  },
  worker: { format: 'es' },
  server: { proxy: Object.fromEntries(['/threads', '/events', '/models', '/agents', '/tools', '/charts', '/actors'].map((path) => [path, SERVER])) },
});
