import type { Circumstances, Look } from './findings';
import type { Installation } from './installation';

const MINUTE_MS = 60_000;

/** What waits too long, and what the database tells about clock and keys. */
export function backlogFindings({ installation, nowMs }: Circumstances): readonly Look[] {
  if (installation === undefined) return [];
  const isLate = (at: string | undefined, minutes: number): boolean =>
    at !== undefined && nowMs - Date.parse(at) > minutes * MINUTE_MS;
  return [
    clock(installation, nowMs),
    ...keys(installation),
    ...late(installation, isLate),
    ...calls(installation),
  ];
}

function clock({ logs }: Installation, nowMs: number): Look {
  return (
    logs.newest !== undefined &&
    Date.parse(logs.newest) > nowMs + MINUTE_MS && {
      id: 'clock_behind',
      level: 'fault',
      says: `The newest event of the audit log is of ${logs.newest}, which is in the future.`,
      mend: 'Set the clock of this machine, for example with an NTP service: retention depends on it.',
    }
  );
}

function keys({ masterKeys }: Installation): readonly Look[] {
  const missing = masterKeys.filter(({ role }) => role === 'missing').map(({ keyId }) => keyId);
  const unused = masterKeys.filter(({ role, texts }) => role === 'older' && texts === 0);
  return [
    missing.length > 0 && {
      id: 'master_key_missing',
      level: 'fault',
      says: `The master keys ${missing.join(', ')} are missing: their texts cannot be decrypted.`,
      mend: 'Add them to LETHE_MASTER_KEY behind the present key.',
    },
    unused.length > 0 && {
      id: 'master_key_unused',
      level: 'warning',
      says: `No text uses the master keys ${unused.map(({ keyId }) => keyId).join(', ')}.`,
      mend: 'Remove them from LETHE_MASTER_KEY, and keep them elsewhere as long as older backups.',
    },
  ];
}

type IsLate = (at: string | undefined, minutes: number) => boolean;

function late({ logs, oldestErasure, outbox }: Installation, isLate: IsLate): readonly Look[] {
  const mend = 'Look whether the service runs with JOBS=on, or a worker does, and read its log.';
  return [
    isLate(oldestErasure, 1) && {
      id: 'erasure_unfinished',
      level: 'fault',
      says: `An erasure is unfinished since ${oldestErasure}.`,
      mend,
    },
    isLate(logs.oldestUnsealed, 10) && {
      id: 'log_unsealed',
      level: 'fault',
      says: `${logs.unsealed} audit logs have unsealed events, the oldest of ${logs.oldestUnsealed}.`,
      mend,
    },
    isLate(outbox.oldestDue, 60) && {
      id: 'webhooks_late',
      level: 'warning',
      says: `A webhook call is due since ${outbox.oldestDue}.`,
      mend,
    },
  ];
}

function calls({ outbox }: Installation): readonly Look[] {
  return [
    outbox.exhausted > 0 && {
      id: 'webhooks_exhausted',
      level: 'warning',
      says: `${outbox.exhausted} webhook calls were given up.`,
      mend: 'Ask the bots to mend their receivers and to redeliver: POST /webhooks/deliveries/{id}/redeliver.',
    },
    outbox.suspended > 0 && {
      id: 'suspended_waiting',
      level: 'warning',
      says: `${outbox.suspended} suspended bots have waiting webhook calls.`,
      mend: 'Run bots:resume or bots:delete: erasures that users asked for are not reported to these bots.',
    },
  ];
}
