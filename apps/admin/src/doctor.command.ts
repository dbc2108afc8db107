import { statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { keyFilePath } from '@app/crypto';
import { type Config, StartError } from '@app/kernel';
import { inContext } from './admin.context';
import type { Command } from './command-line';
import { findingsOf } from './findings';
import { type Circumstances, type Finding, type Installation, installationOf } from './installation';

/** Looks for what operators forget, and says for each finding what mends it. */
export const DOCTOR_COMMAND: Command = {
  name: 'doctor',
  summary: 'Looks for what operators forget, and says what mends it; ends with 1 if something is wrong',
  flags: {},
  run: async (_, surroundings) => {
    const { config, result, tell } = surroundings;
    const findings: Finding[] = [];
    const looking = inContext(surroundings, (nest) => installationOf(nest, config), 'read');
    const installation = await looking.catch((error: unknown) => {
      if (!(error instanceof StartError)) throw error;
      // A database that cannot be read is a finding, and the other looks still take place.
      const says = 'The database cannot be read.';
      findings.push({ id: 'database', level: 'fault', says, mend: error.message });
      return undefined;
    });
    findings.push(...findingsOf(circumstancesOf(config, installation)));
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

function circumstancesOf(config: Config, installation: Installation | undefined): Circumstances {
  const keyFile = config.masterKeys.length > 0 ? undefined : keyFilePath(config);
  return {
    config,
    installation,
    nowMs: Date.now(),
    node: process.versions.node,
    keyFile: keyFile === undefined ? undefined : { path: keyFile, mode: modeOf(keyFile) },
    environmentMode: modeOf('.env'),
    disk: config.database.engine === 'sqlite' ? diskOf(dirname(resolve(config.database.path))) : undefined,
    deviceOf: (path) => seen(() => statSync(path).dev),
  };
}

const modeOf = (path: string): number | undefined => seen(() => statSync(path).mode & 0o777);

const diskOf = (directory: string): Circumstances['disk'] =>
  seen(() => {
    const { bavail, bsize, blocks } = statfsSync(directory);
    return { freeBytes: bavail * bsize, bytes: blocks * bsize };
  });

/** Undefined for what is not there, or in a folder that this user cannot open. */
function seen<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
