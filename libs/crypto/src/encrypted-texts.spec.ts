import type { DiscoveryService } from '@nestjs/core';
import type { UnitOfWork } from '@app/database';
import { EncryptedTexts } from './encrypted-texts';
import { KeyEncryptedTexts } from './key-encrypted-texts.holder';

describe('EncryptedTexts', () => {
  it('name the keys of the installation after all others, whichever module is found first', () => {
    const other = {
      columns: [{ table: 'reminders', column: 'text', key: ['bot_id', 'id'], contextOf: String }],
    };
    const holders = [new KeyEncryptedTexts(), other];
    const discovery = { getProviders: () => holders.map((instance) => ({ instance })) };
    const texts = new EncryptedTexts(discovery as unknown as DiscoveryService, {} as UnitOfWork);
    expect(texts.columns().map(({ table }) => table)).toEqual([
      'keys.subject_keys',
      'reminders',
      'keys.service_keys',
    ]);
  });
});
