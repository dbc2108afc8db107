import { PendingMigrations } from '@app/database';
import { StartError } from '@app/kernel';
import {
  type Circumstances,
  circumstancesOf,
  type Finding,
  findingsOf,
  InstallationReading,
} from '@app/operator';
import { inContext } from './admin.context';
import type { Command, Surroundings } from './command';

/** Looks for what operators forget, and says for each finding what mends it. */
export const DOCTOR_COMMAND: Command = {
  name: 'doctor',
  summary: 'Looks for what operators forget, and says what mends it; ends with 1 if something is wrong',
  flags: {},
  run: async (_, surroundings) => {
    const { config, result, tell } = surroundings;
    const read = await installationOrFault(surroundings);
    const findings = [
      ...('fault' in read ? [read.fault] : []),
      ...findingsOf(circumstancesOf(config, 'fault' in read ? UNREAD : read)),
    ];
    const faults = findings.filter(({ level }) => level === 'fault').length;
    const warnings = findings.length - faults;
    await result(
      { ok: faults === 0, faults, warnings, findings },
      findings.map(({ level, says, mend }) => `${level}: ${says}\n  ${mend}\n`).join(''),
    );
    if (faults > 0) throw new StartError(`Something is wrong: ${faults} faults, ${warnings} warnings.`);
    tell(warnings === 0 ? 'Nothing is wrong.' : `Nothing is wrong. ${warnings} warnings.`);
  },
};

type Read = Pick<Circumstances, 'installation' | 'masterKeys'>;
const UNREAD: Read = { installation: undefined, masterKeys: undefined };

/** A database that cannot be read is a finding, and the other looks still take place. */
async function installationOrFault(surroundings: Surroundings): Promise<Read | { readonly fault: Finding }> {
  try {
    return await inContext(
      surroundings,
      async (nest) => {
        const reading = nest.get(InstallationReading, { strict: false });
        return { installation: await reading.read(), masterKeys: await reading.masterKeys() };
      },
      'read',
    );
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    const fault =
      error instanceof PendingMigrations
        ? { id: 'migrations_pending', says: 'The schema of the database is older than this Lethe.' }
        : { id: 'database', says: 'The database cannot be read.' };
    return { fault: { ...fault, level: 'fault', mend: error.message } };
  }
}
