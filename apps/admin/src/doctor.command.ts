import { type Stats, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { keyFilePath } from '@app/crypto';
import { type Config, StartError } from '@app/kernel';
import { inContext } from './admin.context';
import type { Command, Surroundings } from './command';
import { type Circumstances, type Finding, findingsOf } from './findings';
import { type Installation, installationOf } from './installation';

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
      ...findingsOf(circumstancesOf(config, 'fault' in read ? undefined : read)),
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

/** A database that cannot be read is a finding, and the other looks still take place. */
async function installationOrFault(
  surroundings: Surroundings,
): Promise<Installation | { readonly fault: Finding }> {
  try {
    return await inContext(surroundings, (nest) => installationOf(nest, surroundings.config), 'read');
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    const fault = { id: 'database', level: 'fault', says: 'The database cannot be read.' } as const;
    return { fault: { ...fault, mend: error.message } };
  }
}

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
    deviceOf: (path) => statOf(path)?.dev,
  };
}

/** Undefined for what is not there, or in a folder that this user cannot open. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function modeOf(path: string): number | undefined {
  const mode = statOf(path)?.mode;
  return mode === undefined ? undefined : mode & 0o777;
}

function diskOf(directory: string): Circumstances['disk'] {
  try {
    const { bavail, bsize, blocks } = statfsSync(directory);
    return { freeBytes: bavail * bsize, bytes: blocks * bsize };
  } catch {
    return undefined;
  }
}
