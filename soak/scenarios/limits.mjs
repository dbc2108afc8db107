import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { atMost, shown } from '../table.mjs';

export const name = 'limits';
export const shows = 'heap of the limiter for 200,000 addresses, and for a million';
export const engines = ['sqlite'];

const ADDRESSES = 200_000;
const FLOOD = 1_000_000;
const BYTES_PER_ADDRESS = 300;

const require = createRequire(import.meta.url);
const { MemoryRateLimitStore } = require('../../dist/libs/http/src/rate-limit.store.js');
const { SystemClock } = require('../../dist/libs/kernel/src/clock.js');

const ipv4 = (n) => [`${n >> 24}.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`];

export async function run() {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc');
  const heap = () => {
    gc();
    return process.memoryUsage().heapUsed;
  };
  const before = heap();
  const store = new MemoryRateLimitStore(new SystemClock());
  for (let n = 0; n < ADDRESSES; n++) store.hitStranger(ipv4(n), 10);
  const ofAddresses = heap() - before;
  for (let n = ADDRESSES; n < FLOOD; n++) store.hitStranger(ipv4(n), 10);
  const ofFlood = heap() - before;
  return [
    shown('heap of 200,000 addresses', ofAddresses / 2 ** 20, 'MiB'),
    atMost(BYTES_PER_ADDRESS, 'heap of an address', ofAddresses / ADDRESSES, 'bytes'),
    atMost(1.1, 'heap of a million addresses / of 200,000', ofFlood / ofAddresses),
    shown('buckets', store.strangersBegun),
  ];
}
