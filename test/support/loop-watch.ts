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

/** What a request costs all other callers. */
export interface Cost {
  /** The longest stop of the event loop, in milliseconds. */
  readonly stopMs: number;
  /** The growth of the memory, in MB. */
  readonly growthMb: number;
}

/** Other processes of a busy machine make a measurement larger, and none smaller. */
const MEASURED_MAX = 12;

/** The least cost of `work`, which is done until it costs less than `most`, a dozen times at most. `arrange` is not measured. */
export async function leastCost(
  service: ChildService,
  work: () => Promise<unknown>,
  most: Cost,
  arrange: () => Promise<unknown> = () => Promise.resolve(),
): Promise<Cost> {
  let least: Cost = { stopMs: Infinity, growthMb: Infinity };
  const isWithin = (): boolean => least.stopMs < most.stopMs && least.growthMb < most.growthMb;
  for (let times = 0; times < MEASURED_MAX && !isWithin(); times++) {
    await arrange();
    const { stopMs, growthMb } = await costOf(service, work);
    least = { stopMs: Math.min(least.stopMs, stopMs), growthMb: Math.min(least.growthMb, growthMb) };
  }
  return least;
}

async function costOf(service: ChildService, work: () => Promise<unknown>): Promise<Cost> {
  const before = await service.ask<Reading>('begin');
  await work();
  const { maxMs, peakMb } = await service.ask<Reading>('end');
  return { stopMs: maxMs, growthMb: peakMb - before.peakMb };
}
