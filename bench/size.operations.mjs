import { RARE_TYPE, someUser, subjectIds, VALUES_PER_USER } from './size.seeds.mjs';
import { GUILD } from './tenant.mjs';

const PAGE = 10_000;
const PAGE_SIZE = 20;
const PAGES_READ = 50;

const subjects = subjectIds();
/** Declares the categories of the values, in the guide's shape. */
export const CATEGORIES = Array.from({ length: VALUES_PER_USER }, (_, n) => ({
  name: `c${String(n).padStart(2, '0')}`,
}));
const DATA = { nickname: 'Robin', level: 1, birthday: '2000-02-29' };

/** Stores every value of the measured subjects. */
export const submits = () =>
  subjects.flatMap((user_id) =>
    CATEGORIES.map(({ name: category }) => [
      'POST',
      '/data/submit',
      { user_id, guild_id: GUILD, category, data: DATA },
    ]),
  );

/** The newest requested version of the consents. */
let version = 1;

const list = (query) => () => Array.from({ length: PAGES_READ }, () => ['GET', `/audit/events?${query}`]);

const event = (n) => ({
  user_id: someUser((n * 7919) % 100_000),
  guild_id: GUILD,
  event_type: 'data_exported',
  details: { n },
});

/**
 * The operations measured on growing tables. `calls`: requests of one measurement; `connections`: parallel requests, one
 * to measure the latency; `file`: of the plot; `from`: the fewest rows with an answer.
 */
export const SIZE_OPERATIONS = [
  {
    title: `Erasure of a user with ${VALUES_PER_USER} values`,
    file: 'erasure',
    calls: () => subjects.map((user) => ['POST', '/gdpr/forget-user', { user_id: user, guild_id: GUILD }]),
    putsBack: true,
  },
  {
    title: 'Consent status',
    file: 'status',
    calls: () => subjects.map((user) => ['GET', `/consents/status?user_id=${user}&guild_id=${GUILD}`]),
  },
  {
    title: 'Consent requested in a new version',
    file: 'request',
    calls: () => {
      const consent_version = `${(version += 1)}`;
      return subjects.map((user_id) => [
        'POST',
        '/consents/request',
        { user_id, guild_id: GUILD, consent_version },
      ]);
    },
    status: '201',
  },
  { title: 'Value stored, 64 at once', file: 'submit', calls: submits, connections: 64 },
  {
    title: `Export of a user with ${VALUES_PER_USER} values`,
    file: 'export',
    calls: () => subjects.map((user) => ['GET', `/data/export/${user}?guild_id=${GUILD}`]),
  },
  { title: 'Audit list, page 1', file: 'audit-page-1', calls: list('page=1') },
  { title: 'Audit list of a user, page 1', file: 'audit-user', calls: list(`user_id=${someUser(7)}`) },
  { title: 'Audit list of a guild, page 1', file: 'audit-guild', calls: list(`guild_id=${GUILD}`) },
  {
    title: 'Audit list of a common type, page 1',
    file: 'audit-type',
    calls: list('event_type=data_submitted'),
  },
  {
    title: 'Audit list of a rare type in a guild',
    file: 'audit-guild-rare-type',
    calls: list(`guild_id=${GUILD}&event_type=${RARE_TYPE}`),
  },
  {
    title: `Audit list, page ${PAGE.toLocaleString('en-US')}`,
    file: 'audit-page-10000',
    calls: list(`page=${PAGE}`),
    from: PAGE * PAGE_SIZE,
  },
  {
    title: 'Audit event appended, 64 at once',
    file: 'insert',
    calls: () => Array.from({ length: 4_000 }, (_, n) => ['POST', '/audit/event', event(n)]),
    connections: 64,
    status: '201',
  },
];
