import { isDamage } from '@app/database';
import { ApiError, type Config, many, StartError } from '@app/kernel';
import { circumstancesOf, type Finding, findingsOf, InstallationReading, lastBackups } from '@app/operations';
import { inContext } from './admin.context';
import type { Command } from './command-line';

type Read = Parameters<typeof circumstancesOf>[1];

/** Looks for what operators forget, and says for each finding what mends it. */
export const DOCTOR_COMMAND: Command = {
  name: 'doctor',
  summary: 'Looks for what operators forget, and says what mends it; ends with 1 if something is wrong',
  flags: {},
  run: async (_, surroundings) => {
    const { config, result, tell } = surroundings;
    const findings: Finding[] = [];
    const looking = inContext(
      surroundings,
      async (nest) => {
        const reading = nest.get(InstallationReading, { strict: false });
        return { installation: await reading.read(), masterKeys: await reading.masterKeys() };
      },
      'read',
    );
    const read: Read = await looking.catch((error: unknown) => {
      findings.push(unreadable(error));
      return withoutDatabase(error, config);
    });
    findings.push(...findingsOf(circumstancesOf(config, read)));
    const faults = findings.filter(({ level }) => level === 'fault').length;
    const warnings = findings.length - faults;
    await result(
      { ok: faults === 0, faults, warnings, findings },
      findings.map(({ level, says, mend }) => `${level}: ${says}\n  ${mend}\n`).join(''),
    );
    if (config.database.engine === 'postgres')
      tell('On PostgreSQL backups and exports of the ledger are not looked at.');
    if (faults > 0)
      throw new StartError(`Something is wrong: ${many(faults, 'fault')}, ${many(warnings, 'warning')}.`);
    tell(warnings === 0 ? 'Nothing is wrong.' : `Nothing is wrong. ${many(warnings, 'warning')}.`);
  },
};

const isDamaged = (error: unknown): boolean =>
  isDamage(error) || (error instanceof ApiError && isDamage(error.cause));

/** A database that cannot be read is a finding, and the other looks still take place. */
function unreadable(error: unknown): Finding {
  const finding = { id: 'database', level: 'fault', says: 'The database cannot be read.' } as const;
  if (isDamaged(error))
    return {
      ...{ ...finding, says: 'The database has a damaged page, and what is stored on it cannot be read.' },
      mend: 'Stop the service, keep its files, check the disk, and restore a backup.',
    };
  if (error instanceof StartError || error instanceof ApiError) return { ...finding, mend: error.message };
  throw error;
}

/** What is known then. Of a damaged file it matters whether there is a backup. */
function withoutDatabase(error: unknown, { database }: Config): Read {
  const backups = database.engine === 'sqlite' && isDamaged(error) ? lastBackups(database.path) : undefined;
  return { installation: undefined, masterKeys: undefined, backups };
}
