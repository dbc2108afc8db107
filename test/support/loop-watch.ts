import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChildService } from './child-service';

/** The interval between two measurements of the event loop, in milliseconds. */
const RESOLUTION_MS = 5;

const PROBE = `
  const delay = require('node:perf_hooks').monitorEventLoopDelay({ resolution: ${RESOLUTION_MS} });
  delay.enable();
  let peak = 0;
  const look = () => { peak = Math.max(peak, process.memoryUsage.rss()); };
  setInterval(look, 20).unref();
  process.on('message', (message) => {
    if (message === 'begin') { global.gc(); delay.reset(); peak = 0; }
    look();
    process.send({ maxMs: delay.max / 1e6 - ${RESOLUTION_MS}, peakMb: peak / 1048576 });
  });
  process.channel.unref();
`;

interface Reading {
  readonly maxMs: number;
  readonly peakMb: number;
}

/** The environment of a process whose event loop is watched. */
export function watchedEnvironment(directory: string): Record<string, string> {
  const path = join(directory, 'loop-probe.cjs');
  writeFileSync(path, PROBE);
  return { NODE_OPTIONS: `--expose-gc --max-semi-space-size=8 --require ${path}` };
}

/** The longest stop of the event loop during `work`, in milliseconds, and the growth of the memory, in MB. */
export async function stopDuring(
  service: ChildService,
  work: () => Promise<unknown>,
): Promise<{ readonly stopMs: number; readonly growthMb: number }> {
  const before = await service.ask<Reading>('begin');
  await work();
  const { maxMs, peakMb } = await service.ask<Reading>('end');
  return { stopMs: maxMs, growthMb: peakMb - before.peakMb };
}
