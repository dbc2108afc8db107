import { rmSync } from 'node:fs';

export default function teardown() {
  rmSync(process.env.TEST_BUILD, { recursive: true, force: true });
}
