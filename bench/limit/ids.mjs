import { randomUUID } from 'node:crypto';

/** A UUID of version 7: new rows are adjacent in every index. */
export function newId() {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
