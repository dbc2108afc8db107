import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const HEADING = /^## (\d\S+) - (.+)$/gm;

/** A section of the changelog, the newest first. */
interface Section {
  readonly version: string;
  readonly isReleased: boolean;
}

/** The versions of the changelog. */
export function sectionsOf(changelog: string): Section[] {
  return [...changelog.matchAll(HEADING)].map(([, version = '', date]) => ({
    version,
    isReleased: date !== 'unreleased',
  }));
}

export const sections = (): Section[] =>
  sectionsOf(readFileSync(join(__dirname, '../../../CHANGELOG.md'), 'utf8'));

/** The version of which a fixture can be written. That of a released one is never changed. */
export function unreleasedVersion([newest]: readonly Section[]): string {
  if (newest === undefined || newest.isReleased)
    throw new Error(
      'CHANGELOG.md does not begin with a section "## VERSION - unreleased". The fixture of a release is never changed.',
    );
  return newest.version;
}
