import { fork } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformFileSync } from '@swc/core';

const OPTIONS = {
  swcrc: false,
  module: { type: 'commonjs' },
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
  },
};

/** Compiles bench/<name>/*.ts; answers the path of its main file. */
export function compile(name) {
  const source = join(import.meta.dirname, name);
  const target = join(import.meta.dirname, '../dist/bench', name);
  mkdirSync(target, { recursive: true });
  for (const file of readdirSync(source)) {
    const { code } = transformFileSync(join(source, file), OPTIONS);
    writeFileSync(join(target, file.replace(/\.ts$/, '.js')), code);
  }
  return join(target, 'main.js');
}

/** Starts an application as a process that sends its URL to its parent: `{ url, pid, stop }`. */
export async function startApplication(path, environment = {}) {
  const child = fork(path, {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...environment },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  process.on('exit', () => child.kill('SIGKILL'));
  const url = await new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', () => reject(new Error(`${path} did not start`)));
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return {
    url,
    pid: child.pid,
    stop: () => {
      child.kill();
      return ended;
    },
  };
}
