#!/usr/bin/env node
import { run } from './program';

// The reader of a pipe may close it early.
process.stdout.on('error', () => process.exit(0));
void run(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
