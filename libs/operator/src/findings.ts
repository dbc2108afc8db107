import type { KeyUse } from '@app/crypto';
import type { Config } from '@app/kernel';
import type { Installation } from './installation';
import { backlogFindings } from './findings.backlog';
import { backupFindings } from './findings.backup';
import { exposureFindings } from './findings.exposure';

/** Something that an operator should change. A fault fails `doctor`, a warning does not. */
export interface Finding {
  readonly id: string;
  readonly level: 'fault' | 'warning';
  readonly says: string;
  /** What mends it. */
  readonly mend: string;
}

/** What `doctor` looks at. */
export interface Circumstances {
  readonly config: Config;
  /** Undefined for a database that cannot be read. */
  readonly installation: Installation | undefined;
  /** Undefined for those of a database that cannot be read. */
  readonly masterKeys: readonly KeyUse[] | undefined;
  readonly nowMs: number;
  /** The version of Node.js. */
  readonly node: string;
  /** Undefined where LETHE_MASTER_KEY is set. */
  readonly keyFile: { readonly path: string; readonly mode: number | undefined } | undefined;
  /** The mode of a file `.env` in the working folder. */
  readonly environmentMode: number | undefined;
  /** The disk of a SQLite file. */
  readonly disk: { readonly freeBytes: number; readonly bytes: number } | undefined;
  /** The device that holds a path; undefined where there is nothing. */
  readonly deviceOf: (path: string) => number | undefined;
}

/** One look, with what it answers where something is to be mended. */
export type Look = Finding | false | undefined;

/** All findings, faults first. */
export function findingsOf(circumstances: Circumstances): Finding[] {
  const found = [
    ...backupFindings(circumstances),
    ...exposureFindings(circumstances),
    ...backlogFindings(circumstances),
  ].filter((look): look is Finding => typeof look === 'object');
  return found.sort((one, other) => Number(one.level === 'warning') - Number(other.level === 'warning'));
}
