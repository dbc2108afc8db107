import type { ConditionView } from './operator.dto';

const WORDS: Readonly<Record<string, Omit<ConditionView, 'name'>>> = {
  rate_limit_local: {
    says: 'Redis does not answer, so each process counts the rate limits alone.',
    mend: 'Look whether the Redis of REDIS_URL runs and can be reached from here. Counting in it begins again by itself.',
  },
  disk_low: {
    says: 'The disk of the database is full or almost full: requests that store more are refused.',
    mend: 'Free some room or take a larger disk. Erasures still work, from the ballast.',
  },
  clock_step: {
    says: 'The clock of this machine was set: it differs from the time that has passed.',
    mend: 'Set the clock with an NTP service. What is due by the new time is erased when the difference has lasted for an hour.',
  },
  erasure_unfinished: {
    says: 'An erasure has not ended yet. It is tried again until it does.',
    mend: 'Read the log of this process: a line names the erasure and the fault.',
  },
  database_damaged: {
    says: 'A statement has met a damaged page: what is stored on it cannot be read.',
    mend: 'Stop the service, keep its files, check the disk, and restore a backup.',
  },
  key_file_missing: {
    says: 'The key file is missing. This process still has the keys, and the next start would not.',
    mend: 'Put the copy of the key file back before the next start.',
  },
  log_failing: {
    says: 'Lines of the log cannot be written.',
    mend: 'Look whether the disk or the reader of the log is full.',
  },
};

const OTHER = {
  says: 'A part works worse than configured.',
  mend: 'Read the log of this process: a warning says why.',
};

/** The conditions of readiness in words. */
export function conditionsOf(names: readonly string[]): ConditionView[] {
  return names.map((name) => ({ name, ...(WORDS[name] ?? OTHER) }));
}
