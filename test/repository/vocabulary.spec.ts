import { AUDIT_EVENT_TYPES, BOT_WIDE_GUILD_ID } from '@app/kernel';
import { PAGE_TEXTS } from '@app/pages';
import { DELIVERY_STATUSES } from '@app/webhooks';
import * as sdk from '@lethe/sdk';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WORDS } from '../../apps/console/src/words';

/** The fake of the Python client has a list by hand. */
const python = readFileSync(
  join(__dirname, '../../clients/python/src/lethe_client/testing/_values.py'),
  'utf8',
);
const ofPython = /^TYPES = \(([^)]*)\)/m.exec(python)?.[1]?.match(/\w+/g);

/** The compiler compares the lists of the SDK with openapi.json; the order is that of messages and menus. */
describe('outside of the service', () => {
  it.each([
    ['the audit event types of the SDK', sdk.AUDIT_EVENT_TYPES, AUDIT_EVENT_TYPES],
    ['the audit event types of the fake in Python', ofPython, AUDIT_EVENT_TYPES],
    ['the statuses of webhook calls of the SDK', sdk.DELIVERY_STATUSES, DELIVERY_STATUSES],
    ['the bot-wide scope of the SDK', sdk.BOT_WIDE_GUILD_ID, BOT_WIDE_GUILD_ID],
  ])('%s: those of the service, in its order', (_, own, ofService) => {
    expect(own).toEqual(ofService);
  });
});

it.each(['en', 'de'] as const)(
  'the copy to read has words in %s for each detail of an event that the console has words for',
  (language) => {
    const { fact } = PAGE_TEXTS[language];
    // What was done is the name of the event in the copy.
    const names = Object.keys(WORDS[language].detail).filter((name) => name !== 'act');
    expect(names.filter((name) => !Object.hasOwn(fact, name))).toEqual([]);
  },
);
