import { many, StartError } from '@app/kernel';
import { circumstancesOf, type Finding, findingsOf, InstallationReading } from '@app/operations';
import { inContext } from './admin.context';
import type { Command } from './command-line';

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
    const read = await looking.catch((error: unknown) => {
      if (!(error instanceof StartError)) throw error;
      // A database that cannot be read is a finding, and the other looks still take place.
      const says = 'The database cannot be read.';
      findings.push({ id: 'database', level: 'fault', says, mend: error.message });
      return { installation: undefined, masterKeys: undefined };
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
