import { DELIVERY_EVENTS } from '@app/webhooks';
import { programOf } from '@lethe/cli/program';
import { WEBHOOK_EVENTS } from '@lethe/sdk';
import { WEBHOOKS } from '../../apps/api/src/openapi.webhooks';

const command = (name: string) => programOf().commands.find((each) => each.name() === name);

/** The lists outside of the service. That of the console is a matter of console-deliveries.spec.ts, that of Python is generated. */
describe('each event of webhooks', () => {
  it.each([
    ['the SDK', WEBHOOK_EVENTS],
    ['lethe deliveries', command('deliveries')?.options.find(({ long }) => long === '--event')?.argChoices],
    ['lethe trigger', command('trigger')?.registeredArguments[0]?.argChoices],
    ['openapi.json, but for the ping', [...Object.keys(WEBHOOKS), 'ping']],
  ])('is known to %s, and no other', (_, events) => {
    expect(events?.toSorted()).toEqual(DELIVERY_EVENTS.toSorted());
  });
});
