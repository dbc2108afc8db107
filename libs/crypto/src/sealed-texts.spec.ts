import type { DiscoveryService } from '@nestjs/core';
import type { UnitOfWork } from '@app/database';
import { KeyTextsHolder } from './key-texts.holder';
import { SealedTexts } from './sealed-texts';

describe('SealedTexts', () => {
  it('name the keys of the installation after all others, whichever module is found first', () => {
    const other = {
      columns: [{ table: 'reminders', column: 'text', key: ['bot_id', 'id'], contextOf: String }],
    };
    const holders = [new KeyTextsHolder(), other];
    const discovery = { getProviders: () => holders.map((instance) => ({ instance })) };
    const texts = new SealedTexts(discovery as unknown as DiscoveryService, {} as UnitOfWork);
    expect(texts.columns().map(({ table }) => table)).toEqual([
      'keys.subject_keys',
      'reminders',
      'keys.service_keys',
    ]);
  });
});
