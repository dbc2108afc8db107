// Loaded into a service by `--import`: measures the stops of its event loop and its memory from one message to the next.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const RESOLUTION_MS = 5;
const LOOK_MS = 20;

function watch() {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let peakBytes = 0;
  const look = () => {
    const { heapUsed, external } = process.memoryUsage();
    peakBytes = Math.max(peakBytes, heapUsed + external);
  };
  setInterval(look, LOOK_MS).unref();
  process.on('message', (message) => {
    if (message === 'begin') {
      global.gc();
      delay.reset();
      peakBytes = 0;
    }
    look();
    process.send({ stopMs: Math.max(0, delay.max / 1e6 - RESOLUTION_MS), peakBytes });
  });
  process.channel.unref();
}

// The threads of a service inherit its flags.
if (isMainThread) watch();
