import { Injectable } from '@nestjs/common';
import { HoldsEncryptedTexts, type EncryptedColumn, type EncryptedTextHolder } from './encrypted-texts';
import { contextOfSecret } from './installation-keys';
import { contextOfKey } from './stored-key';

/** Registers the keys of the subjects and of the installation for a change of the master key. */
@Injectable()
@HoldsEncryptedTexts()
export class KeyEncryptedTexts implements EncryptedTextHolder {
  readonly columns: readonly EncryptedColumn[] = [
    {
      table: 'keys.subject_keys',
      column: 'sealed',
      key: ['id'],
      contextOf: ({ id = '' }) => contextOfKey(id),
    },
    {
      table: 'keys.service_keys',
      column: 'sealed',
      key: ['name', 'id'],
      contextOf: ({ name = '', id = '' }) => contextOfSecret(name, id),
      last: true,
    },
  ];
}
