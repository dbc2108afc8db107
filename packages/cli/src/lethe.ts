#!/usr/bin/env node
import { run, unwritten } from './program';

const args = process.argv.slice(2);
// The reader of a pipe may close it early: it has what it wanted, and the command ends at once with 0. The admin commands of the
// service end with 1 there, and lethe-verify with its own code; no package imports the inside of another.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? 0 : unwritten(args, error)),
);
void run(args).then((code) => {
  process.exitCode = code;
});
