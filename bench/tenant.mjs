import { httpRequest } from './load.mjs';

export const GUILD = '223456789012345678';
const FIELDS = [
  ['nickname', 'string'],
  ['level', 'number'],
  ['birthday', 'date'],
].map(([key, type]) => ({ key, type, label_de: key, label_en: key }));

/** A bot whose users have all accepted, created through the interface. */
export class Tenant {
  static async arrange(url, users, more = {}) {
    const tenant = await Tenant.register(url, users, more);
    for (let at = 0; at < users; at += 50) {
      await Promise.all(tenant.users.slice(at, at + 50).map((user) => tenant.consent(user)));
    }
    return tenant;
  }

  /** The bot and its category, without any consent. */
  static async register(url, users, more = {}) {
    const tenant = new Tenant();
    tenant.url = url;
    const { id, api_key: key } = await tenant.call('POST', '/bots/register', {
      platform_bot_id: '987654321098765432',
      name: 'Bench',
      ...more,
    });
    Object.assign(tenant, {
      id,
      key,
      guildId: GUILD,
      users: Array.from({ length: users }, (_, n) => userId(n)),
    });
    await tenant.call('POST', '/data/register', {
      key: 'profile',
      label_de: 'Profil',
      label_en: 'Profile',
      fields: FIELDS,
    });
    return tenant;
  }

  async consent(user) {
    const body = { user_id: user, guild_id: GUILD, consent_version: '1.0' };
    await this.call('POST', '/consents/request', body);
    await this.call('POST', '/consents/accept', body);
    await this.call('POST', '/data/submit', this.profile(user, 1));
  }

  /** Stores a value of every user. */
  async submits() {
    for (let at = 0; at < this.users.length; at += 50) {
      const some = this.users.slice(at, at + 50);
      await Promise.all(some.map((user) => this.call('POST', '/data/submit', this.profile(user, 1))));
    }
  }

  profile(user, level) {
    const data = { nickname: `Robin ${level}`, level, birthday: '2000-02-29' };
    return { user_id: user, guild_id: GUILD, category: 'profile', data };
  }

  async call(method, path, body) {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: {
        'Content-Type': 'application/json',
        ...(this.key && { Authorization: `Bearer ${this.key}` }),
      },
      body: body && JSON.stringify(body),
    });
    const answer = await response.json();
    if (!answer.success)
      throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer.error)}`);
    return answer.data;
  }

  request(method, path, body) {
    return httpRequest(method, `/api/v1${path}`, this.key, body);
  }
}

export function userId(n) {
  return String(100_000_000_000_000_000n + BigInt(n));
}
