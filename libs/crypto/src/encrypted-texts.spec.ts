import type { DiscoveryService } from '@nestjs/core';
import type { UnitOfWork } from '@app/database';
import { EncryptedTexts } from './encrypted-texts';

describe('EncryptedTexts', () => {
  it('name the keys of the installation after all others', () => {
    const other = {
      columns: [{ table: 'reminders', column: 'text', key: ['bot_id', 'id'], contextOf: String }],
    };
    const discovery = { getProviders: () => [{ instance: other }] };
    const texts = new EncryptedTexts(discovery as unknown as DiscoveryService, {} as UnitOfWork);
    expect(texts.columns().map(({ table }) => table)).toEqual([
      'keys.subject_keys',
      'reminders',
      'keys.service_keys',
    ]);
  });
});
