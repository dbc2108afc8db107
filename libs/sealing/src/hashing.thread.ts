import { parentPort, workerData } from 'node:worker_threads';
import { EncryptionKey, encryptionReady } from '@app/primitives';
import { EventCommitments } from './event-commitments';
import { eventsOf, type ThreadBatch, type ThreadSecrets } from './thread-batch';

const { digest, service } = workerData as ThreadSecrets;
const commitments = new EventCommitments(
  Buffer.from(digest),
  new EncryptionKey(service.id, Buffer.from(service.bytes)),
);

/** An error ends the thread; the caller then hashes in place. */
async function answer(batch: ThreadBatch): Promise<void> {
  try {
    await encryptionReady;
    const { events, keys } = eventsOf(batch);
    parentPort?.postMessage(await commitments.seal(batch.botId, events, keys));
  } finally {
    batch.keys.fill(0);
  }
}

parentPort?.on('message', (batch: ThreadBatch) => void answer(batch));
