import fs from 'node:fs';
import { join } from 'node:path';
import { useInstallation } from '../support/installation';

const lethe = useInstallation();
afterEach(() => jest.restoreAllMocks());

/** The paths that are flushed from now on. */
function flushed(): Set<string> {
  const paths = new Set<string>();
  const { open } = fs.promises;
  jest.spyOn(fs.promises, 'open').mockImplementation(async (path, ...how) => {
    const file = await open(path, ...how);
    const sync = file.sync.bind(file);
    file.sync = async () => {
      await sync();
      paths.add(String(path));
    };
    return file;
  });
  return paths;
}

describe('a copy that is recorded as made', () => {
  it('is in directories whose entries are flushed, so that a power cut leaves it (backup)', async () => {
    await lethe.withBot();
    const paths = flushed();
    const to = join(lethe.root, 'saved', 'monday');
    expect(await lethe.admin('backup', '--to', to)).toMatchObject({ code: 0 });
    expect([lethe.root, join(lethe.root, 'saved'), to].filter((path) => !paths.has(path))).toEqual([]);
  });

  it('is in directories whose entries are flushed, so that a power cut leaves it (ledger:export)', async () => {
    await lethe.withBot();
    const paths = flushed();
    const file = join(lethe.root, 'ledger.ndjson');
    expect(await lethe.admin('ledger:export', '--out', file)).toMatchObject({ code: 0 });
    expect([file, lethe.root].filter((path) => !paths.has(path))).toEqual([]);
  });
});
