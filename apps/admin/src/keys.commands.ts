import { keyFilePath, Keyring, MasterKeyRotation, retiredKeysPath } from '@app/crypto';
import { type Config, many, masterKeySetting, StartError, SystemClock, SystemRandom } from '@app/kernel';
import { act, reading } from './admin.context';
import type { Command } from './command-line';

/** Lists the master keys with the number of their texts. An older key with 0 texts can be removed. */
const list: Command = {
  name: 'keys:list',
  summary: 'Lists the ids of the master keys, and how many texts each has encrypted',
  flags: {},
  run: reading(async (nest, { result }) => {
    const uses = await nest.get(MasterKeyRotation).uses();
    const keys = uses.map(({ keyId, role, texts }) => ({ key_id: keyId, role, texts }));
    const lines = uses.map(({ keyId, role, texts }) => `${keyId}  ${role.padEnd(7)}  ${texts}`);
    await result({ keys }, ['key       role     texts', ...lines, ''].join('\n'));
  }),
};

const rotate: Command = {
  name: 'keys:rotate',
  summary:
    'Encrypts with the first master key that is set what an older one has encrypted; a key file gets a new key',
  flags: {},
  run: async (_, surroundings) => {
    const { config, result, tell } = surroundings;
    const [first = '', ...later] = idsOf(config);
    const { keyId, rewrapped, unreadable } = await act(surroundings, 'keys:rotate', first);
    await result({ key_id: keyId, rewrapped, unreadable });
    // A new key behind the old one looks as an old one does after a rotation.
    if (rewrapped === 0 && unreadable === 0 && later.length > 0)
      throw new StartError(
        `Nothing was rewrapped: everything was under the key ${keyId} already, the first of ${masterKeySetting(config)}, and nothing is under ${later.join(', ')}. ` +
          `If ${later.length === 1 ? 'that' : 'one of these'} is the new key, put it first, restart every process, and run keys:rotate again. ` +
          `If a rotation to ${keyId} has ended before, remove ${later.length === 1 ? 'it' : 'them'}, and keep ${later.length === 1 ? 'it' : 'them'} elsewhere as long as older backups.`,
      );
    tell(`${many(rewrapped, 'text was', 'texts were')} rewrapped; everything is under the key ${keyId}.`);
    if (unreadable > 0)
      throw new StartError(
        `Except ${many(unreadable, 'text that its', 'texts that their')} own key does not decrypt: ${unreadable === 1 ? 'it is damaged, and was' : 'they are damaged, and were'} left unchanged. ` +
          'Keep the older keys until all is restored or the bots have new secrets.',
      );
    const done =
      first === ''
        ? `The key file holds only the new key: make a copy of it now. The older keys are in ${retiredKeysPath(keyFilePath(config))}.`
        : `Older keys may be removed from ${masterKeySetting(config)}, in every process.`;
    tell(`${done} Older backups need the older key: keep it as long as these backups, but in another place.`);
  },
};

/** The ids of the keys that the settings give, the first one first. None for a key file. */
function idsOf({ masterKeys }: Config): readonly string[] {
  return masterKeys.length === 0 ? [] : new Keyring(masterKeys, new SystemRandom(new SystemClock())).ids;
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
