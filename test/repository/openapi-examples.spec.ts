import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KeyUses } from '@app/bots';
import { ConsentCounting } from '@app/reports';
import { openApiDocument } from '../../apps/api/src/openapi';
import { ownPaths, withoutFurtherTypes } from '../support/further-modules';
import { runNow } from '../support/jobs';
import { useReceiver } from '../support/receiver';
import { DocumentedValues, Recording } from '../support/recorded-answers';
import { Service } from '../support/service';
import { amidDay } from '../support/time';
import { until } from '../support/until';

type Answer = Readonly<Record<string, unknown>>;
type Examples = Readonly<Record<string, { readonly value: Answer }>>;
type Content = Readonly<Record<string, { readonly examples?: Examples }>>;

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { name: string; in: 'path' | 'query'; example?: string | number }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content: Content }>>;
}

interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** Operations that others need are called first, operations that remove something last, each in this order. */
const FIRST = [
  ...['botsRegister', 'serversRegister', 'categoriesRegister', 'consentTextsRegister', 'consentRequest'],
  ...['consentAccept', 'userDataSubmit', 'auditWrite', 'deliveriesTest', 'apiKeysCreate', 'apiKeysList'],
];
const LAST = [
  ...['noticeSettingsChange', 'noticeSettingsView'],
  ...[
    'auditList',
    'sealingProof',
    'sealingCheckpoints',
    'sealingExport',
    'userDataSubmitBatch',
    'operatorState',
    'operatorFindings',
    'operatorSizes',
    'operatorList',
    'operatorSuspend',
    'operatorResume',
    'operatorSetTier',
    'operatorExported',
    'botsChange',
    'categoriesChange',
    'processingRefusalsObject',
    'processingRefusalsRestrict',
    'processingRefusalsUnrestrict',
    'processingRefusalsOf',
    'consentRevoke',
    'holdersRegister',
    'holdersList',
    'holdersView',
    'holdersChange',
    'erasureForget',
    'erasureStatus',
    'certificateCertificate',
    'holderTasksList',
    'holderTasksAcknowledge',
    'finalCertificateRead',
    'holdersDelete',
    'statsRead',
    'consentDecline',
    'userValuesErase',
    'serversCancelDeletion',
    'erasureDeleteGuild',
  ],
  ...['categoriesDelete', 'botsDelete'],
];
const WHO = { user_id: '123456789012345678', guild_id: '223456789012345678' };
const ASKED = { ...WHO, consent_version: '1.0' };

const OPERATOR_TOKEN = 'o'.repeat(40);
const RATE_LIMIT_TIERS = 'free=1000000,standard=2000000,high=3000000';

type Step = readonly [method: string, path: string, body?: object];

/** Operations whose example needs more steps on a fresh service, which the test takes before. */
const BEFORE: Readonly<Record<string, readonly Step[]>> = {
  serversCancelDeletion: [['DELETE', '/api/v1/servers/223456789012345678?grace_days=30']],
  consentDecline: [['POST', '/api/v1/consents/request', ASKED]],
  userValuesErase: [
    ['POST', '/api/v1/consents/request', ASKED],
    ['POST', '/api/v1/consents/accept', ASKED],
    ['POST', '/api/v1/data/submit', { ...WHO, category: 'profile', data: { nickname: 'Robin' } }],
  ],
};

const FILE = join(__dirname, '../../apps/api/src/openapi.answers.json');
const WRITES = process.env.TEST_RECORD === 'write';
/** Examples beside the canonical ones. */
const FURTHER = ['guide', 'merge', 'all_guilds'];
const recording = new Recording(1 + FURTHER.length);

/** Calls a fresh service with the examples of the document, and records each answer beside the documented one. */
class Life {
  private readonly values: DocumentedValues;
  private key = '';

  /** Webhooks are sent to `receiverUrl` in place of the documented receiver. */
  constructor(
    private readonly url: string,
    receiverUrl: string,
  ) {
    const ids = { 'https://bot.example.org/gdpr': receiverUrl, 'bot.example.org': new URL(receiverUrl).host };
    this.values = new DocumentedValues(ids, readFileSync(FILE, 'utf8'));
  }

  async send({ method, path, operation }: Route, name: string): Promise<void> {
    for (const step of BEFORE[operation.operationId] ?? []) await this.call(...step);
    if (this.key !== '') await until(async () => (await this.pendingCalls()) === 0);
    if (operation.operationId === 'operatorState') await until(() => this.isSealed());
    const body = operation.requestBody?.content['application/json']?.examples?.[name]?.value;
    const answer = await this.call(method.toUpperCase(), addressOf(path, operation), body);
    const text = withoutFurtherTypes(await answer.text());
    const said = `${operation.operationId}, ${name}`;
    const [[status, documented] = ['', undefined]] = Object.entries(operation.responses);
    expect([said, answer.status, text]).toEqual([said, Number(status), expect.anything()]);
    const [type = ''] = (answer.headers.get('content-type') ?? '').split(';');
    const isJson = type === 'application/json';
    // Of lines of JSON the first one is documented.
    const value = JSON.parse(isJson ? text : (text.split('\n')[0] ?? '')) as Answer;
    const example = documented?.content[type]?.examples?.[name]?.value;
    const kept = this.values.kept(isJson ? example?.data : example, isJson ? value.data : value);
    if (!WRITES) expect([said, isJson ? { success: true, data: kept } : kept]).toEqual([said, example]);
    recording.add(operation.operationId, name, kept);
    if (operation.operationId === 'botsRegister') {
      this.key = (value.data as { api_key: string }).api_key;
    }
  }

  private async isSealed(): Promise<boolean> {
    const answer = await this.call('GET', '/api/v1/operator/status');
    return ((await answer.json()) as { data: { sealing: { oldest: unknown } } }).data.sealing.oldest === null;
  }

  private async pendingCalls(): Promise<number> {
    const answer = await this.call('GET', '/api/v1/webhooks/deliveries?status=pending');
    return ((await answer.json()) as { data: { deliveries: unknown[] } }).data.deliveries.length;
  }

  private call(method: string, path: string, body?: unknown): Promise<Response> {
    const isOfOperator = path.startsWith('/api/v1/operator/');
    return fetch(this.url + this.values.real(path), {
      method,
      headers: {
        ...(this.key !== '' && { authorization: `Bearer ${isOfOperator ? OPERATOR_TOKEN : this.key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: this.values.real(JSON.stringify(body)) }),
    });
  }
}

function addressOf(path: string, { parameters = [] }: Operation): string {
  const query = new URLSearchParams();
  let address = path;
  for (const { name, in: where, example } of parameters) {
    if (where === 'path') address = address.replace(`{${name}}`, String(example));
    else if (example !== undefined) query.set(name, String(example));
  }
  return query.size === 0 ? address : `${address}?${query.toString()}`;
}

function namesOf({ operation }: Route): string[] {
  return Object.keys(operation.requestBody?.content['application/json']?.examples ?? { canonical: {} });
}

async function routesOf({ app }: Service): Promise<Route[]> {
  const { paths } = await openApiDocument(app);
  return Object.entries(ownPaths(paths)).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      method,
      path,
      operation: operation as Operation,
    })),
  );
}

describe('the examples of openapi.json, sent as they are', () => {
  const receiver = useReceiver();
  let service: Service;
  let routes: Route[] = [];

  beforeEach(async () => {
    receiver.reset();
    service = await new Service({ OPERATOR_TOKEN, RATE_LIMIT_TIERS }).start();
    // The document is that of the code, and the same for each service.
    if (routes.length === 0) routes = await routesOf(service);
  });

  afterEach(() => service.stop());

  const named = (ids: readonly string[]) =>
    ids.flatMap((id) => routes.filter(({ operation }) => operation.operationId === id));

  it('follow from each other: every route answers as documented', async () => {
    // The example of the statistics has one day.
    await amidDay();
    const life = new Life(service.url, receiver.url);
    const [first, last] = [named(FIRST), named(LAST)];
    const others = routes.filter((route) => !first.includes(route) && !last.includes(route));
    for (const route of first) await life.send(route, 'canonical');
    await runNow(service, ConsentCounting);
    // Else done by a timer, before or after the operator asks.
    await service.app.get(KeyUses, { strict: false }).write();
    for (const route of [...others, ...last]) await life.send(route, 'canonical');
    recording.endLife();
  });

  it.each(FURTHER)('have a further one that is taken as well: %s', async (name) => {
    const life = new Life(service.url, receiver.url);
    const first = named(FIRST);
    const inPlace = name === 'guide';
    for (const route of first)
      await life.send(route, inPlace && namesOf(route).includes(name) ? name : 'canonical');
    for (const route of routes)
      if (namesOf(route).includes(name) && !(inPlace && first.includes(route))) await life.send(route, name);
    recording.endLife();
  });

  it('are answered as recorded in openapi.answers.json (else: npm run openapi)', () => {
    const text = recording.text();
    if (WRITES) writeFileSync(FILE, text);
    expect(readFileSync(FILE, 'utf8')).toBe(text);
  });
});
