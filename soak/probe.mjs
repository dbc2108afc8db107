// Loaded into a service by `--import`: measures the stops of its event loop and its memory from one message to the next.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const RESOLUTION_MS = 5;
const LOOK_MS = 20;

function watch() {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let peak = {};
  const look = () => {
    const { rss, arrayBuffers, heapUsed } = process.memoryUsage();
    for (const [name, bytes] of Object.entries({ rss, arrayBuffers, heapUsed }))
      peak[name] = Math.max(peak[name] ?? 0, bytes);
  };
  setInterval(look, LOOK_MS).unref();
  process.on('message', (message) => {
    if (message === 'begin') {
      global.gc();
      delay.reset();
      peak = {};
    }
    look();
    process.send({ stopMs: Math.max(0, delay.max / 1e6 - RESOLUTION_MS), ...peak });
  });
  process.channel.unref();
}

// The threads of a service inherit its flags.
if (isMainThread) watch();
