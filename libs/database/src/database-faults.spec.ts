import {
  databaseUnavailable,
  isConnectionLost,
  isDamage,
  isOfFullDisk,
  isUnavailable,
  translateFault,
} from './database-faults';

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
    expect(isUnavailable(Object.assign(databaseUnavailable(), { cause: { code } }))).toBe(!is);
    expect(isUnavailable({ code })).toBe(false);
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

describe('a connection that cannot be secured', () => {
  it.each([
    ...['CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'EPROTO'],
    ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'CRL_HAS_EXPIRED', 'HOSTNAME_MISMATCH'],
    ...['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'There was an error establishing an SSL connection'],
    'The server does not support SSL connections',
  ])('(%s) is 503', (fault) => {
    const error = Object.assign(new Error(fault), !fault.includes(' ') && { code: fault });
    expect(translateFault(error)).toMatchObject({ status: 503 });
    // During a COMMIT it leaves open what was committed.
    expect(isConnectionLost(error)).toBe(true);
  });
});

describe('a connection that this machine cannot open', () => {
  it.each(['EADDRNOTAVAIL', 'EMFILE', 'ENFILE', 'EHOSTDOWN', 'ENETDOWN'])('(%s) is 503', (code) => {
    expect(translateFault(Object.assign(new Error('connect'), { code }))).toMatchObject({ status: 503 });
  });
});
