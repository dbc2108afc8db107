import { keyFilePath, Keyring, KeyRotation, type KeyUse, retiredKeysPath } from '@app/crypto';
import { type Config, StartError, SystemClock, SystemRandom } from '@app/kernel';
import { act } from './acts';
import { inContext } from './admin.context';
import type { Command, Surroundings } from './command';

/** Lists the master keys with the number of their texts. An older key with 0 texts can be removed. */
const list: Command = {
  name: 'keys:list',
  summary: 'Lists the ids of the master keys, and how many texts each has encrypted',
  flags: {},
  run: (_, surroundings) =>
    inContext(
      surroundings,
      async (nest) => {
        const uses = await nest.get(KeyRotation).uses();
        const keys = uses.map(({ keyId, role, texts }) => ({ key_id: keyId, role, texts }));
        await surroundings.result({ keys }, ['key       role     texts', ...uses.map(lineOf), ''].join('\n'));
      },
      'read',
    ),
};

function lineOf({ keyId, role, texts }: KeyUse): string {
  return `${keyId}  ${role.padEnd(7)}  ${texts}`;
}

const rotate: Command = {
  name: 'keys:rotate',
  summary:
    'Encrypts with the first key of LETHE_MASTER_KEY what an older key has encrypted; a key file gets a new key',
  flags: {},
  run: async (_, surroundings) => {
    const first = firstKeyOf(surroundings.config);
    const { keyId, rewrapped, unreadable } = await act(surroundings, 'keys:rotate', first);
    await surroundings.result({ key_id: keyId, rewrapped, unreadable });
    surroundings.tell(`${rewrapped} texts were rewrapped; everything is under the key ${keyId}.`);
    if (unreadable > 0) throw damaged(unreadable);
    surroundings.tell(farewell(surroundings));
  },
};

/** Empty for a key file. */
function firstKeyOf({ masterKeys }: Config): string {
  return masterKeys.length === 0
    ? ''
    : new Keyring(masterKeys, new SystemRandom(new SystemClock())).presentId;
}

function damaged(count: number): StartError {
  return new StartError(
    `Except ${count} texts that their own key does not decrypt: they are damaged, and were left unchanged. ` +
      'Keep the older keys until they are restored or their bots have new secrets.',
  );
}

function farewell({ config }: Surroundings): string {
  const done =
    config.masterKeys.length === 0
      ? `The key file holds only the new key: make a copy of it now. The older keys are in ${retiredKeysPath(keyFilePath(config))}.`
      : 'Older keys may be removed from LETHE_MASTER_KEY, in every process.';
  return `${done} Older backups need the older key: keep it as long as these backups, but in another place.`;
}

const rotateSigning: Command = {
  name: 'keys:sign-rotate',
  summary: 'Puts a new signing key in force and retires the present one; its signatures stay valid',
  flags: {},
  run: async (_, surroundings) => {
    const id = await act(surroundings, 'keys:sign-rotate');
    await surroundings.result({ key_id: id }, `${id}\n`);
    surroundings.tell(
      'The signing key with this id is in force; running processes use it within 30 seconds.',
    );
  },
};

export const KEY_COMMANDS: readonly Command[] = [list, rotate, rotateSigning];
