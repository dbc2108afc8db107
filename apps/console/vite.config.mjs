import { join } from 'node:path';
import { defineConfig } from 'vite';

const ROOT = join(import.meta.dirname, '../..');

/** Builds the console into `dist/console`, or the folder that `--outDir` names. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  resolve: { alias: { '@lethe/sdk': join(ROOT, 'packages/sdk/src/index.ts') } },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: join(ROOT, 'dist/console'),
    emptyOutDir: true,
    // The policy of the page forbids data addresses of scripts, and the service sends whole files.
    assetsInlineLimit: 0,
    modulePreload: false,
    target: 'es2022',
  },
});
