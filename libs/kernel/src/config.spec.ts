import { readConfig } from './config';

describe('readConfig', () => {
  it('refuses a name that looks like a setting and is none', () => {
    expect(() => readConfig({ LETHE_MASTERKEY: 'x' })).toThrow('LETHE_MASTERKEY is not a setting of Lethe');
  });

  it('leaves the settings of a bot alone, which lethe init writes into the same .env', () => {
    const ofBot = {
      LETHE_URL: 'http://127.0.0.1:3000',
      LETHE_BOT_ID: '0198c0de-0000-7000-8000-000000000001',
      LETHE_KEY: 'sk_live_x',
      LETHE_WEBHOOK_SECRET: 'whsec_x',
    };
    expect(readConfig(ofBot)).toEqual(readConfig({}));
  });

  it.each(['METRICS_TOKEN', 'REGISTRATION_TOKEN'])('refuses an OPERATOR_TOKEN that is the %s too', (name) => {
    const token = 'a'.repeat(40);
    expect(() => readConfig({ OPERATOR_TOKEN: token, [name]: token })).toThrow(
      'OPERATOR_TOKEN must be another',
    );
    expect(readConfig({ OPERATOR_TOKEN: token, [name]: 'b'.repeat(40) }).operatorToken).toBe(token);
  });

  it.each(['short', 'sk_live_'.repeat(5), 'with a blank in it'])('refuses %j as OPERATOR_TOKEN', (token) => {
    expect(() => readConfig({ OPERATOR_TOKEN: token })).toThrow('OPERATOR_TOKEN must be');
  });

  it('refuses a LETHE_KEY that is no API key: it may be meant as LETHE_MASTER_KEY', () => {
    const masterKey = Buffer.alloc(32).toString('base64');
    expect(() => readConfig({ LETHE_KEY: masterKey })).toThrow('LETHE_KEY is not a setting of Lethe');
  });
});
