import { readConfig } from './config';
import { EgressPolicy } from './egress';

function policy(environment: Record<string, string> = {}): EgressPolicy {
  return new EgressPolicy(readConfig(environment));
}

const closed = policy({ HOST: '0.0.0.0', WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'false' });
const loopbackOnly = policy();
const open = policy({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' });

const LOOPBACK = [
  '127.0.0.1',
  '127.255.255.254',
  '::1',
  '::ffff:127.0.0.1',
  '0:0:0:0:0:ffff:7f00:1',
  '64:ff9b::7f00:1',
];
const PRIVATE = [
  '10.0.0.1',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  '100.127.255.255',
  '198.18.0.1',
  '198.19.255.255',
  'fc00::1',
  'fd12:3456::1',
  '::ffff:10.0.0.1',
  '64:ff9b::a00:1',
];
const NEVER = [
  '0.0.0.0',
  '0.1.2.3',
  '169.254.169.254',
  '169.254.0.1',
  '::ffff:169.254.169.254',
  '64:ff9b::a9fe:a9fe',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::127.0.0.1',
  '::ffff:0:127.0.0.1',
  '64:ff9b:1::7f00:1',
  '2002:7f00:1::',
  '::5efe:7f00:1',
  '2a00:1450::5efe:7f00:1',
  '2a00:1450::200:5efe:7f00:1',
  'fe80::1',
  'fe80::1%lo',
  'fec0::1',
  'ff02::1',
  '100::1',
  '2001::1',
  '2001:1::1',
  '2001:db8::1',
  '3fff::1',
  '5f00::1',
  'fd00:ec2::254',
  'fd20:ce::254',
  '4000::1',
  'localhost',
  '',
  '1.2.3',
];
const PUBLIC = [
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450:4001:82a::200e',
  '::ffff:1.1.1.1',
  '64:ff9b::101:101',
];

describe('EgressPolicy.allowsAddress', () => {
  it.each(PUBLIC)('lets every mode connect to %s', (address) => {
    expect([closed, loopbackOnly, open].map((mode) => mode.allowsAddress(address))).toEqual([
      true,
      true,
      true,
    ]);
  });

  it.each(LOOPBACK)('lets a service that listens on loopback connect to %s', (address) => {
    expect([closed, loopbackOnly, open].map((mode) => mode.allowsAddress(address))).toEqual([
      false,
      true,
      true,
    ]);
  });

  it.each(PRIVATE)('connects to %s only where the operator allows private networks', (address) => {
    expect([closed, loopbackOnly, open].map((mode) => mode.allowsAddress(address))).toEqual([
      false,
      false,
      true,
    ]);
  });

  it.each(NEVER)('never connects to %p, whatever the mode', (address) => {
    expect([closed, loopbackOnly, open].map((mode) => mode.allowsAddress(address))).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('refuses loopback in mode auto as soon as the service listens elsewhere', () => {
    for (const HOST of ['0.0.0.0', '::', '192.168.1.5', 'service.internal'])
      expect(policy({ HOST }).allowsAddress('127.0.0.1')).toBe(false);
    for (const HOST of ['127.0.0.1', '::1', 'localhost', '127.1.2.3'])
      expect(policy({ HOST }).allowsAddress('127.0.0.1')).toBe(true);
  });
});

describe('EgressPolicy in mode auto', () => {
  it.each([
    ['TRUST_PROXY', '1'],
    ['NODE_ENV', 'production'],
    ['HOST', '0.0.0.0'],
  ])('refuses loopback and its names outside of development: %s=%s', (name, value) => {
    const given = { [name]: value, WEBHOOK_REQUIRE_HTTPS: 'false' };
    for (const address of LOOPBACK) expect(policy(given).allowsAddress(address)).toBe(false);
    for (const host of ['localhost', '127.0.0.1', '[::1]'])
      expect(policy(given).refusalOf(`http://${host}:8080/h`)).toContain('must not lead to');
    const opened = policy({ ...given, WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' });
    expect(opened.allowsAddress('127.0.0.1')).toBe(true);
  });
});

describe('EgressPolicy.refusalOf', () => {
  it.each([
    'http://localhost/h',
    'http://localhost./h',
    'http://LOCALHOST/h',
    'http://a.localhost/h',
    'http://127.0.0.1/h',
    'http://127.1/h',
    'http://0x7f.1/h',
    'http://0177.0.0.1/h',
    'http://2130706433/h',
    'http://0/h',
    'http://0.0.0.0/h',
    'http://①②⑦.⓪.⓪.①/h',
    'http://127.0.0.1./h',
    'http://[::1]/h',
    'http://[::]/h',
    'http://[::ffff:127.0.0.1]/h',
    'http://[::127.0.0.1]/h',
    'http://[::ffff:0:127.0.0.1]/h',
    'http://[64:ff9b::7f00:1]/h',
    'http://[64:ff9b:1::7f00:1]/h',
    'http://[2002:7f00:1::]/h',
    'http://[::5efe:7f00:1]/h',
    'http://10.0.0.1/h',
    'http://169。254。169。254/h',
    'https://10.0.0.1\\@example.org/h',
  ])('refuses %s where only public receivers are allowed', (url) => {
    expect(closed.refusalOf(url)).toMatch(/private, local or reserved/);
  });

  it.each([
    'http://169.254.169.254/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://168.63.129.16/',
  ])('refuses %s even where private networks are allowed', (url) => {
    expect(open.refusalOf(url)).toMatch(/private, local or reserved/);
  });

  it.each([
    ['https://user@example.org/', /user name/],
    ['https://:pass@example.org/', /user name/],
    ['https://example.org/#part', /fragment/],
    ['https://example.org/#', /fragment/],
    ['ftp://example.org/', /http or https/],
    ['file:///etc/passwd', /http or https/],
    ['https://example.org:0/', /port/],
    ['https://example.org:22/', /port/],
    ['https://example.org:25/', /port/],
    ['https://example.org:6379/', /port/],
    ['https://example.org:1023/', /port/],
  ])('refuses %s', (url, reason) => {
    expect(open.refusalOf(url)).toMatch(reason);
  });

  it.each([
    'https://example.org/hook',
    'https://example.org:8443/',
    'http://example.org:80/',
    'http://example.org/?a=b',
  ])('accepts %s', (url) => {
    expect(closed.refusalOf(url)).toBeUndefined();
  });

  it('requires https in production unless the setting allows http', () => {
    expect(policy({ NODE_ENV: 'production' }).refusalOf('http://example.org/')).toMatch(/https URL/);
    expect(
      policy({ NODE_ENV: 'production', WEBHOOK_REQUIRE_HTTPS: 'false' }).refusalOf('http://example.org/'),
    ).toBeUndefined();
    expect(policy({ WEBHOOK_REQUIRE_HTTPS: 'true' }).refusalOf('http://example.org/')).toMatch(/https URL/);
  });

  it('accepts a receiver on loopback while the service listens there too', () => {
    for (const url of ['http://localhost:4000/', 'http://127.0.0.1:4000/', 'http://[::1]:4000/'])
      expect(loopbackOnly.refusalOf(url)).toBeUndefined();
  });

  it('refuses no port of this machine to callers of this machine, and every other port of a service', () => {
    const url = 'http://127.0.0.1:9/';
    expect(loopbackOnly.refusalOf(url)).toBeUndefined();
    expect(loopbackOnly.refusalOf('http://localhost:6000/')).toBeUndefined();
    expect(loopbackOnly.refusalOf('http://example.org:9/')).toMatch(/port/);
    const served = policy({ HOST: '0.0.0.0', WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' });
    for (const reached of [served, policy({ TRUST_PROXY: '1', WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' })])
      expect(reached.refusalOf(url)).toMatch(/port/);
  });
});
