import { httpRequest, keyed } from './load.mjs';

const subjectOf = ({ guildId }, user) => ({ user_id: user, guild_id: guildId });

/** The users of one batch. */
const BATCH = 100;

/** The users of the batch that begins with the user at `n`. */
const batchFrom = ({ users }, n) => Array.from({ length: BATCH }, (_, at) => users[(n + at) % users.length]);

/**
 * The measured operations. `call` makes the request of one user; `once`: it takes effect once per user, so that the users
 * are restored before and after; `floor`: the stock route to compare with; `targets`: the wanted ratios; `values`: how many users a
 * request is about; `isOwn`: no other contestant has it.
 */
export const OPERATIONS = {
  status: {
    title: 'GET /consents/status',
    call: (tenant, user) => ['GET', `/consents/status?user_id=${user}&guild_id=${tenant.guildId}`],
    floor: 'get',
    targets: { sqlite: { stock: 1.6 }, postgres: { usual: 6 } },
  },
  submit: {
    title: 'POST /data/submit',
    call: (tenant, user, n) => ['POST', '/data/submit', tenant.profile(user, n)],
    floor: 'post',
    targets: { sqlite: { stock: 1.5 }, postgres: { usual: 6 } },
  },
  keyedSubmit: {
    title: 'POST /data/submit, with an Idempotency-Key',
    call: (tenant, user, n) => ['POST', '/data/submit', tenant.profile(user, n)],
    isKeyed: true,
    isOwn: true,
  },
  submitBatch: {
    title: `POST /data/submit/batch of ${BATCH}`,
    call: (tenant, _, n) => {
      const items = batchFrom(tenant, n * BATCH).map((user, at) => tenant.profile(user, n + at));
      return ['POST', '/data/submit/batch', { items }];
    },
    values: BATCH,
    isOwn: true,
  },
  keyedSubmitBatch: {
    title: `POST /data/submit/batch of ${BATCH}, with an Idempotency-Key`,
    call: (tenant, _, n) => OPERATIONS.submitBatch.call(tenant, _, n),
    isKeyed: true,
    values: BATCH,
    isOwn: true,
  },
  statusBatch: {
    title: `POST /consents/status/batch of ${BATCH}`,
    call: (tenant, _, n) => [
      'POST',
      '/consents/status/batch',
      { items: batchFrom(tenant, n * BATCH).map((user) => subjectOf(tenant, user)) },
    ],
    values: BATCH,
    isOwn: true,
  },
  revoke: {
    title: 'POST /consents/revoke, with its webhook',
    call: (tenant, user) => ['POST', '/consents/revoke', subjectOf(tenant, user)],
    floor: 'post',
    once: true,
  },
  audit: {
    title: 'GET /audit/events, page 1',
    call: () => ['GET', '/audit/events?page=1'],
    floor: 'get',
    targets: { sqlite: { stock: 0.6 } },
  },
  erase: {
    title: 'POST /gdpr/forget-user, with its webhook',
    call: (tenant, user) => ['POST', '/gdpr/forget-user', subjectOf(tenant, user)],
    floor: 'post',
    once: true,
  },
  export: {
    title: 'GET /data/export',
    call: (tenant, user) => ['GET', `/data/export/${user}?guild_id=${tenant.guildId}`],
    floor: 'get',
    targets: { sqlite: { stock: 0.8 } },
  },
};

/** The texts that the load generator sends to a contestant. */
export function requestsOf({ call, isKeyed = false, values = 1 }, { tenant }) {
  const users = tenant.users.slice(0, tenant.users.length / values);
  const requests = users.map((user, n) => tenant.request(...call(tenant, user, n)));
  return isKeyed ? requests.map(keyed) : requests;
}

/** The two routes of the stock application; its submit gets the bodies that Lethe gets. */
export function stockRequests(floor, { tenant }) {
  if (floor === 'get') return [httpRequest('GET', '/status')];
  return tenant.users.map((user, n) => httpRequest('POST', '/submit', undefined, tenant.profile(user, n)));
}

/**
 * @throws Error unless the first contestant, Lethe, answers a route with every field of the others, of the same type and
 * length. Lethe may answer more fields, for instance the time of an erasure or the salt of a certificate. The details of
 * events depend on what each contestant did last.
 */
export async function requireSameAnswers(operation, contestants) {
  const answers = [];
  for (const { name, tenant, restore } of contestants) {
    const answer = await tenant.call(...operation.call(tenant, tenant.users[0], 0));
    if (operation.once) await restore();
    answers.push({ name, shape: shapeOf(answer) });
  }
  const [first, ...others] = answers;
  for (const { name, shape } of others)
    if (!covers(first.shape, shape))
      throw new Error(
        `${operation.title}: ${name} answers ${JSON.stringify(shape)}, ${first.name} ${JSON.stringify(first.shape)}`,
      );
}

function covers(shape, other) {
  if (Array.isArray(other))
    return (
      Array.isArray(shape) && shape.length === other.length && other.every((one, n) => covers(shape[n], one))
    );
  if (typeof other !== 'object') return shape === other;
  return (
    typeof shape === 'object' &&
    !Array.isArray(shape) &&
    Object.entries(other).every(([name, one]) => name in shape && covers(shape[name], one))
  );
}

function shapeOf(value) {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, key === 'details' ? 'details' : shapeOf(value[key])]));
}
