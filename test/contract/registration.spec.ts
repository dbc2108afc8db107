import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '@app/kernel';
import type { Answer } from '../support/client';
import { expectFailure } from '../support/expected';
import { Service } from '../support/service';
import { snowflake } from '../support/snowflakes';

const TOKEN = 'a-token-of-the-operator';

const started: Service[] = [];
afterEach(async () => {
  for (const service of started.splice(0)) await service.stop();
});

async function serviceWith(settings: Readonly<Record<string, string>>): Promise<Service> {
  const service = await new Service(settings).start();
  started.push(service);
  return service;
}

const registers = ({ anonymous }: Service, headers: Record<string, string> = {}): Promise<Answer> =>
  anonymous.post('/bots/register', { platform_bot_id: snowflake(), name: 'A bot' }, headers);

describe('POST /api/v1/bots/register', () => {
  it('is open to every caller by default', async () => {
    expect((await registers(await serviceWith({}))).status).toBe(201);
  });

  it('with REGISTRATION=token: 201 with the token of the operator, else 401', async () => {
    const service = await serviceWith({ REGISTRATION: 'token', REGISTRATION_TOKEN: TOKEN });
    expectFailure(await registers(service), 401, 'unauthorized');
    for (const wrong of ['', TOKEN.slice(1), `${TOKEN}x`, TOKEN.toUpperCase()])
      expectFailure(await registers(service, { 'X-Registration-Token': wrong }), 401, 'unauthorized');
    const answer = await registers(service, { 'x-registration-token': TOKEN });
    expect(answer.status).toBe(201);
    expect(answer.text).not.toContain(TOKEN);
    expect(service.logLines.join('')).not.toContain(TOKEN);
  });

  it('with REGISTRATION=token refuses a caller before it looks at the body', async () => {
    const service = await serviceWith({ REGISTRATION: 'token', REGISTRATION_TOKEN: TOKEN });
    expectFailure(await service.anonymous.post('/bots/register', { name: 7 }), 401, 'unauthorized');
  });

  it('with REGISTRATION=off: 404, and registered bots go on', async () => {
    const open = await serviceWith({});
    const bot = await open.registerBot();
    await open.app.close();
    const closed = await new Service({ REGISTRATION: 'off' }, open.database, open.directory).start();
    const refused = await registers(closed, { 'X-Registration-Token': TOKEN });
    expectFailure(refused, 404, 'not_found');
    const guide = readFileSync(join(__dirname, '../../docs/start.md'), 'utf8');
    expect(guide).toContain(`| 404 \`${refused.error.message.split(':')[0]}\` `);
    expect((await bot.at(closed).get(`/bots/${bot.id}`)).status).toBe(200);
    await closed.app.close();
    await open.start();
  });
});

describe('the settings of the registration', () => {
  it.each([
    [{ REGISTRATION: 'token' }, 'REGISTRATION_TOKEN must be set where REGISTRATION is token'],
    [{ REGISTRATION: 'closed' }, 'REGISTRATION must be one of open, token, off'],
    [{ REGISTRATION: 'token', REGISTRATION_TOKEN: 'short' }, 'REGISTRATION_TOKEN must be 16 to 256'],
  ])('refuse %j', (settings, message) => {
    expect(() => readConfig(settings)).toThrow(message);
  });
});
