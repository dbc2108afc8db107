import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Names the place where the suites of this run compile the service, once and only if one of them starts it. */
export default function setup() {
  process.env.TEST_BUILD = mkdtempSync(join(tmpdir(), 'lethe-build-'));
}
