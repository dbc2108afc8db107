import { type Tx, UnitOfWork } from '@app/database';
import { AuditService } from '@app/audit';
import { ConsentService } from '@app/consent';
import type { Bot } from '../support/bot';
import type { Answer } from '../support/client';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';
import { keptOpen } from '../support/units';
import { until } from '../support/until';

const service = useServiceInProcess();
const NESTED = { strict: false };
let bot: Bot;
beforeEach(async () => (bot = await service.registerBot()) && undefined);
afterEach(() => jest.restoreAllMocks());

const register = () =>
  bot.post('/holders', { key: 'database', kind: 'pull', covers: ['x'], label_de: 'D', label_en: 'D' });
const remove = (query = '') => bot.delete<{ abandoned: number }>(`/holders/database${query}`);
const forget = () => bot.post<{ request_id: string }>('/gdpr/forget-user', subject());
const tasks = (open = '') =>
  service.database.rows(`SELECT 1 FROM holder_tasks WHERE bot_id = ? ${open}`, bot.id);

/** Where the test holds a unit. */
class Gate {
  /** The backend of the held unit. */
  backend: number;
  private pass: () => void;
  private reach: () => void;
  readonly reached = new Promise<void>((resolve) => (this.reach = resolve));
  private readonly open = new Promise<void>((resolve) => (this.pass = resolve));

  async wait(tx: Tx): Promise<void> {
    await keptOpen(tx);
    this.backend = (await tx.get<{ pid: number }>('SELECT pg_backend_pid() AS pid'))?.pid ?? 0;
    this.reach();
    return this.open;
  }

  release(): void {
    this.pass();
  }
}

/** Holds the first unit in which the condition is true after its last statement, before its commit. */
function beforeCommit(holds: (tx: Tx) => Promise<boolean>): Gate {
  const gate = new Gate();
  const units = service.app.get(UnitOfWork);
  const write = units.write.bind(units);
  let isHeld = false;
  jest.spyOn(units, 'write').mockImplementation((work) =>
    write(async (tx) => {
      const result = await work(tx);
      if (!isHeld && (await holds(tx))) {
        isHeld = true;
        await gate.wait(tx);
      }
      return result;
    }),
  );
  return gate;
}

const completes = async (tx: Tx): Promise<boolean> =>
  (await tx.get(`SELECT 1 FROM deletion_requests WHERE bot_id = ? AND status = 'completed'`, bot.id)) !==
  undefined;
const isWithoutHolder = async (tx: Tx): Promise<boolean> =>
  (await tx.get('SELECT 1 FROM bot_holders WHERE bot_id = ?', bot.id)) === undefined;

/**
 * Whether the call is answered before the gate opens; it is not if it waits for the held unit. Other units of the service wait for
 * each other in passing.
 */
async function isAnsweredAt(gate: Gate, call: Promise<Answer<unknown>>): Promise<boolean> {
  let isAnswered = false;
  void call.then(() => (isAnswered = true));
  const waiting = 'SELECT 1 FROM pg_stat_activity WHERE ? = ANY (pg_blocking_pids(pid))';
  await until(async () => isAnswered || (await service.database.rows(waiting, gate.backend)).length > 0);
  const answered = isAnswered;
  gate.release();
  return answered;
}

describe('an erasure whose tasks are made and not committed', () => {
  it('lets a registration wait: what is completed after its answer has its task', async () => {
    const gate = beforeCommit(completes);
    const erasure = forget();
    await gate.reached;
    const registration = register();
    expect(await isAnsweredAt(gate, registration)).toBe(false);
    expect([(await registration).status, (await erasure).status]).toEqual([201, 200]);
    expect(await tasks()).toEqual([]);
    await forget();
    expect(await tasks()).toHaveLength(1);
  });

  it.each([
    ['', 409, 1],
    ['?abandon=true', 200, 0],
  ])(
    'lets a deletion%s wait, which is answered %i and leaves no holder without its open tasks',
    async (query, status, open) => {
      await register();
      const gate = beforeCommit(completes);
      const erasure = forget();
      await gate.reached;
      const deletion = remove(query);
      expect(await isAnsweredAt(gate, deletion)).toBe(false);
      expect([(await deletion).status, (await erasure).status]).toEqual([status, 200]);
      expect(await tasks('AND open = 1')).toHaveLength(open);
      expect(await tasks()).toHaveLength(1);
      expect((await bot.get('/holders/database')).status).toBe(open === 1 ? 200 : 404);
    },
  );
});

describe('an erasure that has not made its tasks yet', () => {
  /** Holds the next call of a method. */
  function before<Name extends string>(
    provider: Record<Name, (tx: Tx, ...given: never[]) => unknown>,
    name: Name,
  ): Gate {
    const gate = new Gate();
    const real = provider[name].bind(provider);
    const held = async (tx: Tx, ...given: never[]): Promise<unknown> => {
      await gate.wait(tx);
      return real(tx, ...given);
    };
    jest.spyOn(provider as never, name as never).mockImplementationOnce(held as never);
    return gate;
  }
  const moments: readonly [string, boolean, () => Gate][] = [
    ['before it locks anything', true, () => before(service.app.get(ConsentService, NESTED), 'lock')],
    ['before its audit event', false, () => before(service.app.get(AuditService, NESTED), 'recordErased')],
  ];

  it.each(moments)('%s: has one for a holder that is registered by then', async (_, isFirst, held) => {
    const gate = held();
    const erasure = forget();
    await gate.reached;
    const registration = register();
    expect(await isAnsweredAt(gate, registration)).toBe(isFirst);
    expect([(await registration).status, (await erasure).status]).toEqual([201, 200]);
    expect(await tasks()).toHaveLength(isFirst ? 1 : 0);
  });

  it.each(moments)(
    '%s: leaves no open one for a holder that is deleted by then',
    async (_, isFirst, held) => {
      await register();
      const gate = held();
      const erasure = forget();
      await gate.reached;
      const deletion = remove('?abandon=true');
      expect(await isAnsweredAt(gate, deletion)).toBe(isFirst);
      expect([(await deletion).status, (await erasure).status]).toEqual([200, 200]);
      expect(await tasks()).toHaveLength(isFirst ? 0 : 1);
      expect(await tasks('AND open = 1')).toEqual([]);
    },
  );
});

describe('a deletion that is not committed', () => {
  it('lets an erasure wait, which then makes no task', async () => {
    await register();
    const gate = beforeCommit(isWithoutHolder);
    const deletion = remove();
    await gate.reached;
    const erasure = forget();
    expect(await isAnsweredAt(gate, erasure)).toBe(false);
    expect([(await deletion).status, (await erasure).status]).toEqual([200, 200]);
    expect(await tasks()).toEqual([]);
  });
});

describe('an answer that is not committed', () => {
  const asked = async (): Promise<string> => {
    const who = subject();
    await bot.hasConsent(who);
    await bot.export(who, '&format=full');
    const { tasks: open } = (await bot.get<{ tasks: { task_id: string }[] }>('/holders/database/tasks')).data;
    return open[0]?.task_id ?? '';
  };
  it.each([
    ['erase', 'holder_tasks', async () => (await forget()).data.request_id, { result: 'erased' }],
    ['export', 'holder_exports', asked, { result: 'exported', data: {} }],
  ])('to a task to %s lets another one wait, which is then 409', async (_, table, task, answer) => {
    await register();
    const path = `/holders/database/tasks/${await task()}/acknowledge`;
    const answered = `SELECT result FROM ${table} WHERE bot_id = ? AND open = 0`;
    const gate = beforeCommit(async (tx) => (await tx.get(answered, bot.id)) !== undefined);
    const first = bot.post(path, answer);
    await gate.reached;
    const second = bot.post(path, { result: 'nothing' });
    expect(await isAnsweredAt(gate, second)).toBe(false);
    expect([(await first).status, (await second).status]).toEqual([200, 409]);
    expect(await service.database.rows(answered, bot.id)).toEqual([{ result: answer.result }]);
  });
});
