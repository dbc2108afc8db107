import { join } from 'node:path';
import { defineConfig } from 'vite';

const ROOT = join(import.meta.dirname, '../..');

/** Builds the console and the page `/verify` into `dist/console`, or the folder that `--outDir` names. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  resolve: {
    // The longer name first: an alias also matches what begins with it.
    alias: [
      { find: '@lethe/sdk/evidence/web', replacement: join(ROOT, 'packages/sdk/src/evidence/web.ts') },
      { find: '@lethe/sdk', replacement: join(ROOT, 'packages/sdk/src/index.ts') },
    ],
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: join(ROOT, 'dist/console'),
    emptyOutDir: true,
    // The policy of the page forbids data addresses of scripts, and the service sends whole files.
    assetsInlineLimit: 0,
    modulePreload: false,
    target: 'es2022',
    rolldownOptions: {
      input: ['index.html', 'verify.html'].map((page) => join(import.meta.dirname, page)),
    },
  },
});
