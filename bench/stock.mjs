import { fork } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformFileSync } from '@swc/core';

const SOURCE = join(import.meta.dirname, 'stock/main.ts');
const TARGET = join(import.meta.dirname, '../dist/bench/stock.cjs');

/** Compiles the stock application and starts it in a process of its own: `{ url, pid, stop }`. */
export async function startStock() {
  const { code } = transformFileSync(SOURCE, {
    swcrc: false,
    module: { type: 'commonjs' },
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    },
  });
  mkdirSync(join(TARGET, '..'), { recursive: true });
  writeFileSync(TARGET, code);
  const child = fork(TARGET, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  process.on('exit', () => child.kill('SIGKILL'));
  const url = await new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', () => reject(new Error('the stock application did not start')));
  });
  return { url, pid: child.pid, stop: () => child.kill() };
}
