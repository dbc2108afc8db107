import { rmSync } from 'node:fs';

export default function teardown() {
  rmSync(process.env.TMPDIR, { recursive: true, force: true });
}
