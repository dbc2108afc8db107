import { isStaging } from './plant';

describe('what lethe hunt takes for a staging copy', () => {
  it.each([
    'localhost',
    '127.0.0.1',
    '10.1.2.3',
    '172.20.0.2',
    '192.168.1.9',
    '[::1]',
    '[fd00::1]',
    'lethe.local',
  ])('%s, on this machine or network', (hostname) => expect(isStaging(hostname)).toBe(true));

  it.each(['lethe.staging.example', 'staging-lethe.example', 'lethe-test2.example', 'dev.lethe.example'])(
    '%s, by its name',
    (hostname) => expect(isStaging(hostname)).toBe(true),
  );

  it.each([
    'lethe.example',
    '8.8.8.8',
    '172.32.0.1',
    'contest.example',
    'devices.example',
    '[2001:db8::1]',
    'lethe',
  ])('not %s', (hostname) => expect(isStaging(hostname)).toBe(false));
});
