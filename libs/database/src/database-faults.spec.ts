import { databaseUnavailable, isDamage, isOfFullDisk, maySucceedInParts } from './database-faults';

describe('damage of the database', () => {
  it.each([
    ...[
      'SQLITE_CORRUPT',
      'SQLITE_CORRUPT_INDEX',
      'SQLITE_NOTADB',
      'SQLITE_IOERR_READ',
      'SQLITE_IOERR_SHORT_READ',
    ],
    ...['XX001', 'XX002'],
  ])('is an error with the code %s, also one that TypeORM has wrapped', (code) => {
    expect([isDamage({ code }), isDamage({ driverError: { code } })]).toEqual([true, true]);
  });

  it.each(['SQLITE_BUSY', 'SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'XX000', '40001', undefined])(
    'is not an error with the code %s',
    (code) => {
      expect(isDamage({ code })).toBe(false);
    },
  );
});

describe('a fault that may concern one row', () => {
  it.each([
    ...[true, false].flatMap((is) => {
      const codes = is
        ? ['55P03', '57014', '58030', 'SQLITE_IOERR_READ']
        : ['57P01', '53300', 'ECONNREFUSED', 'SQLITE_FULL', undefined];
      return codes.map((code) => [is, code] as const);
    }),
  ])('is %s for the code %s below a 503', (is, code) => {
    expect(maySucceedInParts(Object.assign(databaseUnavailable(), { cause: { code } }))).toBe(is);
    expect(maySucceedInParts({ code })).toBe(false);
  });
});

describe('a full disk', () => {
  it.each([
    ['SQLITE_FULL', true],
    ['SQLITE_IOERR_SHMSIZE', true],
    ['SQLITE_IOERR_WRITE', true],
    ['ENOSPC', true],
    ['SQLITE_IOERR_READ', false],
    ['SQLITE_CANTOPEN', false],
    [undefined, false],
  ])('with the code %s is a fault at the start, also as the cause of another one: %s', (code, is) => {
    const further = new Error('cannot be opened', { cause: { code } });
    expect([{ code }, { driverError: { code } }, further].map(isOfFullDisk)).toEqual([is, is, is]);
  });
});
