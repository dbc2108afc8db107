import type { ModuleRef } from '@nestjs/core';
import { BotAdministration } from '@app/bots';
import { KeyRotation, Keyring, Signer } from '@app/crypto';
import { CONFIG, type Config, NO_TIER, StartError } from '@app/kernel';

type OnRewrapped = Parameters<KeyRotation['rotate']>[0];

/** What an operator changes, by the names of the commands. Each takes texts and answers plain data. */
export type OperatorActs = ReturnType<typeof operatorActs>;

/**
 * The acts on the modules of one process: that of the command, or on SQLite the service that holds the file. No other act
 * can be asked of a running service.
 */
export function operatorActs(modules: Pick<ModuleRef, 'get'>, onRewrapped: OnRewrapped = () => undefined) {
  const bots = modules.get(BotAdministration, { strict: false });
  return {
    'bots:new-key': (bot: string) => bots.newKey(bot),
    'bots:suspend': (bot: string) => bots.suspend(bot),
    'bots:resume': (bot: string) => bots.resume(bot),
    'bots:tier': (bot: string, tier: string) => bots.setTier(bot, tier === NO_TIER ? null : tier),
    'bots:delete': (bot: string) => bots.delete(bot),
    /** `firstKey` is the id of the first key of `LETHE_MASTER_KEY` as the operator sees it, empty for a key file. */
    'keys:rotate': async (firstKey: string) => {
      const { masterKeys } = modules.get<Config>(CONFIG, { strict: false });
      if ((firstKey === '') !== (masterKeys.length === 0)) throw otherPlace(firstKey);
      if (firstKey !== '' && firstKey !== modules.get(Keyring, { strict: false }).presentId) throw otherKey();
      return modules.get(KeyRotation, { strict: false }).rotate(onRewrapped);
    },
    'keys:sign-rotate': () => modules.get(Signer, { strict: false }).rotate(),
  };
}

function otherPlace(firstKey: string): StartError {
  const [service, command] =
    firstKey === '' ? ['LETHE_MASTER_KEY', 'the key file'] : ['the key file', 'LETHE_MASTER_KEY'];
  return new StartError(
    `Nothing was changed: the running service has its key from ${service}, and this command from ${command}. Give this command the settings of the service, and run keys:rotate again.`,
  );
}

function otherKey(): StartError {
  return new StartError(
    'Nothing was changed: the running service has another first key than this command. Restart it with the same LETHE_MASTER_KEY, and run keys:rotate again.',
  );
}
