import { Injectable } from '@nestjs/common';
import { HoldsEncryptedTexts, type EncryptedColumn, type EncryptedTextHolder } from './encrypted-texts';
import { contextOf as serviceContext } from './installation-keys';
import { contextOf as subjectContext } from './subject-keys';

/** Registers the keys of the subjects and of the installation for a change of the master key. */
@Injectable()
@HoldsEncryptedTexts()
export class KeyEncryptedTexts implements EncryptedTextHolder {
  readonly columns: readonly EncryptedColumn[] = [
    {
      table: 'keys.subject_keys',
      column: 'sealed',
      key: ['bot_id', 'guild_id', 'user_id'],
      bound: ['id'],
      contextOf: ({ bot_id: botId = '', guild_id: guildId = '', user_id: userId = '', id = '' }) =>
        subjectContext({ botId, guildId, userId }, id),
    },
    {
      table: 'keys.service_keys',
      column: 'sealed',
      key: ['name', 'id'],
      contextOf: ({ name = '', id = '' }) => serviceContext(name, id),
      last: true,
    },
  ];
}
