import { Injectable } from '@nestjs/common';
import { HoldsEncryptedTexts, type EncryptedColumn, type EncryptedTextHolder } from './encrypted-texts';
import { contextOf as serviceContext } from './installation-keys';
import { contextOf as subjectContext } from './stored-key';

/** Registers the keys of the subjects and of the installation for a change of the master key. */
@Injectable()
@HoldsEncryptedTexts()
export class KeyEncryptedTexts implements EncryptedTextHolder {
  readonly columns: readonly EncryptedColumn[] = [
    {
      table: 'keys.subject_keys',
      column: 'sealed',
      key: ['id'],
      contextOf: ({ id = '' }) => subjectContext(id),
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
