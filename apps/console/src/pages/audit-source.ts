import { hasEd25519, type KeySet } from '@lethe/sdk/evidence/web';
import { lethe, openly } from '../service';
import type { AuditFilter } from './audit-filter';
import type { Read } from './audit-walk';

/** Reads the log by what the service itself filters. */
export function readBy({ type, user, server }: AuditFilter): Read {
  const filter = {
    ...(type !== undefined && { event_type: type }),
    ...(user !== undefined && { user_id: user }),
    ...(server !== undefined && { guild_id: server }),
  };
  return async (given) => {
    const { events, pagination } = await lethe.request('GET /audit/events', { ...filter, ...given });
    return { events, total: pagination.total_count, next: pagination.next };
  };
}

/** This browser or this connection cannot check signatures. */
export class NoEd25519 extends Error {}

/** The public keys of the installation, which everybody may read. @throws NoEd25519, or a LetheError */
export async function publicKeys(): Promise<KeySet> {
  if (!(await hasEd25519())) throw new NoEd25519();
  return openly.publicKeys();
}
