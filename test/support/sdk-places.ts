import { type ClientOptions, Lethe } from '@lethe/sdk';
import type { FakeLethe } from '@lethe/sdk/testing';
import { type Receiver, useReceiver } from './receiver';
import { useServiceInProcess } from './service';
import { snowflake, subject, type SubjectIds } from './snowflakes';

export const PROFILE = {
  key: 'profile',
  label_de: 'Profil',
  label_en: 'Profile',
  fields: [
    { key: 'nickname', type: 'string', label_de: 'Spitzname', label_en: 'Nickname' },
    { key: 'birthday', type: 'date', label_de: 'Geburtstag', label_en: 'Birthday' },
  ],
} as const;

/** A category that needs no consent. */
export const BANS = {
  ...PROFILE,
  key: 'bans',
  legal_basis: 'legitimate_interests',
  requires_consent: false,
  reason_de: 'Missbrauch muss abgewehrt werden.',
  reason_en: 'Abuse has to be prevented.',
} as const;

interface Place {
  readonly options: () => Pick<ClientOptions, 'url' | 'fetch'>;
  /** The calls that the bot was sent, once there are `count`. */
  readonly received: (count: number) => Promise<readonly { rawBody: string; headers: object }[]>;
}

interface Called {
  readonly status: number;
  readonly answer: unknown;
}

interface Refused {
  readonly code: string;
  readonly details?: { readonly fields?: readonly { readonly field: string }[] };
}

const reasonOf = ({ code, details: { fields, ...details } = {} }: Refused): object => ({
  ...{ code, ...details },
  ...(fields !== undefined && { fields: fields.map(({ field }) => field) }),
});

/** A bot that uses the client. It has declared {@link PROFILE}. */
export class ClientBot {
  lethe: Lethe;
  secret: string;
  key: string;

  constructor(private readonly place: Place) {}

  options(): Pick<ClientOptions, 'url' | 'fetch'> {
    return this.place.options();
  }

  received(count: number): ReturnType<Place['received']> {
    return this.place.received(count);
  }

  async register(webhook_url: string): Promise<void> {
    const given = { platform_bot_id: snowflake(), name: 'Greeter', webhook_url };
    const { api_key: key, webhook_secret: secret } = await Lethe.register(this.options(), given);
    Object.assign(this, { secret, key });
    this.lethe = new Lethe({ ...this.options(), key });
    await this.lethe.categories.register(PROFILE);
  }

  /** The status of a call and its data, or what says why it is refused. */
  async called(
    [method, path]: readonly string[],
    given: object,
    key = this.key,
    once?: string,
  ): Promise<Called> {
    const { url, fetch = globalThis.fetch } = this.options();
    const isQuery = method === 'GET';
    const address = `${String(url)}/api/v1${path}${isQuery ? `?${String(new URLSearchParams({ ...given }))}` : ''}`;
    const headers = {
      ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(once !== undefined && { 'idempotency-key': once }),
    };
    const body = isQuery ? null : JSON.stringify(given);
    const response = await fetch(address, { method: method ?? '', headers, body });
    const { data, error } = (await response.json()) as { data?: object; error?: Refused };
    return { status: response.status, answer: error === undefined ? data : reasonOf(error) };
  }

  async asked(given: object = {}): Promise<SubjectIds> {
    const who = subject();
    await this.lethe.consents.request({ ...who, consent_version: '1.0', ...given });
    return who;
  }

  async consenting(given: object = {}): Promise<SubjectIds> {
    const who = await this.asked(given);
    await this.lethe.consents.accept({ ...who, consent_version: '1.0' });
    return who;
  }
}

/** Tests a bot once on the fake of @lethe/sdk/testing and once on the service: both answer the same. */
export function describeOnPlaces(title: string, fake: FakeLethe, tests: (bot: ClientBot) => void): void {
  const service = useServiceInProcess();
  const receiver: Receiver = useReceiver();
  const places: readonly (readonly [string, Place])[] = [
    ['the fake', { options: () => fake, received: async () => [...fake.webhooks] }],
    ['the service', { options: () => ({ url: service.url }), received: (count) => receiver.received(count) }],
  ];
  describe.each(places)(`${title} on %s`, (_name, place) => {
    const bot = new ClientBot(place);
    beforeEach(async () => {
      receiver.reset();
      fake.webhooks.length = 0;
      await bot.register(receiver.url);
    });
    tests(bot);
  });
}

export const thrown = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );
