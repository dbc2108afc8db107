import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replaceFile, writeEnvFile } from './env-file';

describe('a file that is replaced', () => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'lethe-env-file-'));
  afterEach(() => jest.restoreAllMocks());
  afterAll(() => fs.rmSync(folder, { recursive: true }));

  it('is refused where it is mounted by itself, with what to mount instead', () => {
    const path = join(folder, 'mounted');
    fs.writeFileSync(path, 'LETHE_URL=http://a\n');
    jest.spyOn(fs, 'renameSync').mockImplementationOnce(() => {
      throw Object.assign(new Error('EBUSY: resource busy or locked'), { code: 'EBUSY' });
    });
    expect(() => writeEnvFile(path, { LETHE_URL: 'http://b' })).toThrow(
      expect.objectContaining({
        message: `${path} is mounted by itself, so that no other file can take its place.`,
        mend: expect.stringContaining('Mount its folder') as string,
      }),
    );
    expect([fs.readFileSync(path, 'utf8'), fs.readdirSync(folder)]).toEqual([
      'LETHE_URL=http://a\n',
      ['mounted'],
    ]);
  });

  it('is made where a link, or a chain of them, leads nowhere yet', () => {
    const [shared, bot] = [join(folder, 'shared'), join(folder, 'bot')];
    for (const made of [shared, bot]) fs.mkdirSync(made);
    fs.symlinkSync(join('..', 'shared', 'next'), join(bot, '.env'));
    fs.symlinkSync('secrets', join(shared, 'next'));
    replaceFile(join(bot, '.env'), 'A=1\n');
    expect(fs.readFileSync(join(shared, 'secrets'), 'utf8')).toBe('A=1\n');
    for (const link of [join(bot, '.env'), join(shared, 'next')])
      expect(fs.lstatSync(link).isSymbolicLink()).toBe(true);
    expect(fs.readdirSync(bot)).toEqual(['.env']);
  });
});
