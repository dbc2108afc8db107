import { join } from 'node:path';
import { PYTHON } from '../support/discord-py-seat';
import { canRun } from '../support/programs';
import { spawned } from '../support/spawned';

// The stores of clients/python over PostgreSQL, with asyncpg and SQLAlchemy. Each test makes a database of its own.

const CLIENT = join(__dirname, '../../clients/python');
const isThere = canRun(PYTHON, ['-c', 'import asyncpg, httpx, pytest, sqlalchemy']);

describe('the stores of lethe_client.holders', () => {
  (isThere ? it : it.skip)('pass their tests on PostgreSQL', async () => {
    const env = {
      PATH: process.env['PATH'],
      PYTHONDONTWRITEBYTECODE: '1',
      TEST_POSTGRES_URL: process.env['TEST_POSTGRES_URL'],
    };
    const args = ['-m', 'pytest', '-q', 'tests/test_holder_stores.py', '-k', 'async'];
    const { code, output } = await spawned(PYTHON, args, { cwd: CLIENT, env }).ended;
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringMatching(/^\.+ .*\n\d+ passed/) as string,
    });
  });
});
