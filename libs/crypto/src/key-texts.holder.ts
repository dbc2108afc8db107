import { Injectable } from '@nestjs/common';
import { HoldsSealedTexts, type SealedColumn, type SealedTextHolder } from './sealed-texts';
import { contextOf as serviceContext } from './service-keys';
import { contextOf as subjectContext } from './subject-keys';

/** The keys of the subjects and of the installation, as they follow a new master key. */
@Injectable()
@HoldsSealedTexts()
export class KeyTextsHolder implements SealedTextHolder {
  readonly columns: readonly SealedColumn[] = [
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
