import { readConfig } from '@app/kernel';
import { Bot } from '../support/bot';
import type { ScriptRun } from '../support/child-script';
import { adminHere } from '../support/here';
import { LETHE_MASTER_KEY, Service } from '../support/service';
import { snowflake } from '../support/snowflakes';

const TIERS = { RATE_LIMIT_TIERS: 'free=30,high=3000,top=9000' };
const platformId = snowflake();

let service: Service;
let bot: Bot;

async function started(settings: Readonly<Record<string, string>>): Promise<void> {
  const environment = { LETHE_MASTER_KEY, RATE_LIMIT_BOT_TIERS: `${platformId}=high`, ...settings };
  service = await new Service(environment, ...(service === undefined ? [] : [service.database])).start();
}

beforeAll(async () => {
  await started(TIERS);
  bot = await service.registerBot({ platform_bot_id: platformId });
});
afterAll(() => service.stop());

/** Beside the running service. */
function tier(name: string, id = bot.id): Promise<ScriptRun> {
  const environment = { DATABASE_URL: service.database.url, LETHE_MASTER_KEY, ...TIERS };
  return adminHere(['bots:tier', '--bot', id, '--tier', name], environment);
}

const limit = async (): Promise<number> =>
  Number((await bot.at(service).get('/servers')).header('x-ratelimit-limit'));

async function listed(settings = TIERS): Promise<unknown> {
  const environment = { DATABASE_URL: service.database.url, LETHE_MASTER_KEY, ...settings };
  const { stdout } = await adminHere(['bots:list'], environment);
  return JSON.parse(stdout);
}

describe('bots:tier', () => {
  it('stores a tier that counts before RATE_LIMIT_BOT_TIERS, in the running service too, until it is removed', async () => {
    expect(await limit()).toBe(3000);
    const said = (name: string) => expect.stringContaining(`has the tier ${name}`) as unknown;
    expect(await tier('top')).toMatchObject({ code: 0, stderr: said('top') });
    expect(await limit()).toBe(9000);
    expect(await listed()).toMatchObject({ tier: 'top', stored_tier: 'top' });
    // By the settings of the service, which does it.
    expect(await tier('default', platformId)).toMatchObject({ code: 0, stderr: said('high') });
    expect(await limit()).toBe(3000);
    expect(await listed()).toMatchObject({ tier: 'free', stored_tier: null });
  });

  it('has a word for no tier, which RATE_LIMIT_TIERS cannot name', () => {
    const naming = () => readConfig({ RATE_LIMIT_TIERS: 'free=30,default=60' });
    expect(naming).toThrow('RATE_LIMIT_TIERS must be a list without the tier default');
  });

  it('refuses an unknown tier with the names of all, and an unknown bot', async () => {
    const unknown = await tier('gold');
    expect(unknown).toMatchObject({ code: 1, stdout: '' });
    expect(unknown.stderr).toContain('There is no tier gold: RATE_LIMIT_TIERS names free, high, top.');
    expect((await tier('high', '1')).stderr).toContain('The bot 1 not found');
    expect(await limit()).toBe(3000);
  });

  it('stores a tier that counts as none, with one warning, once RATE_LIMIT_TIERS does not name it', async () => {
    await tier('top');
    await service.app.close();
    await started({ RATE_LIMIT_TIERS: 'free=30,high=3000' });
    expect([await limit(), await limit()]).toEqual([3000, 3000]);
    const warnings = service.logLines.filter((line) => line.includes('the stored tier top'));
    expect(warnings).toHaveLength(1);
    expect(await listed({ RATE_LIMIT_TIERS: 'free=30' })).toMatchObject({ tier: 'free', stored_tier: 'top' });
  });
});
