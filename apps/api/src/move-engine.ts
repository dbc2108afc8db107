import { loadConfig } from '@app/common';
import { runMove } from './move-command';

const { stdout, stderr } = process;
void runMove(process.argv.slice(2), { config: loadConfig, stdout, stderr }).then((code) => {
  // What is left of a move that failed is not waited for.
  if (code !== 0) process.exit(code);
});
