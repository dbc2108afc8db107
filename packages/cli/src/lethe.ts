#!/usr/bin/env node
import { run, unwritten } from './program';

const args = process.argv.slice(2);
// The reader of a pipe may close it early: it has what it wanted. lethe-verify and the admin commands of the service have the
// same lines, since no package imports the inside of another.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? 0 : unwritten(args, error)),
);
void run(args).then((code) => {
  process.exitCode = code;
});
