interface Described {
  readonly summary: string;
  /** Request bodies by name; the guide's shape stands beside the canonical one. */
  readonly examples?: Readonly<Record<string, { summary: string; value: object }>>;
}

const SUBJECT = { user_id: '123456789012345678', guild_id: '223456789012345678' };
const BOT = '987654321098765432';
const USER = SUBJECT.user_id;

function described(summary: string, canonical?: object, guide?: object): Described {
  if (canonical === undefined) return { summary };
  return {
    summary,
    examples: {
      canonical: { summary: 'The shape of the tables', value: canonical },
      ...(guide && { guide: { summary: "The guide's shape, for the bot-wide scope", value: guide } }),
    },
  };
}

const PROFILE = {
  key: 'profile',
  label_de: 'Profil',
  label_en: 'Profile',
  fields: [
    { key: 'nickname', type: 'string', label_de: 'Spitzname', label_en: 'Nickname' },
    { key: 'birthday', type: 'date', label_de: 'Geburtstag', label_en: 'Birthday', description: null },
  ],
};

/** Summary and request examples of every route, in the order of the specification's Part 4. */
export const OPERATIONS: Readonly<Record<string, Described>> = {
  'POST /api/v1/bots/register': described(
    'Register a bot and receive its API key',
    {
      platform_bot_id: BOT,
      name: 'Greeter',
      privacy_contact: 'privacy@example.org',
      webhook_url: 'https://bot.example.org/gdpr',
    },
    { bot_id: BOT, name: 'Greeter', description: 'Greets new members' },
  ),
  'GET /api/v1/bots/{bot_id}': described('Read the bot'),
  'PUT /api/v1/bots/{bot_id}': described('Change what is given; null clears', {
    name: 'Greeter',
    privacy_contact: null,
    webhook_url: 'https://bot.example.org/gdpr',
  }),
  'DELETE /api/v1/bots/{bot_id}': described('Delete the bot and all its data; irreversible'),
  'POST /api/v1/bots/{bot_id}/webhook-secret/rotate': described(
    'Replace the secret that signs the webhook calls',
    { overlap_seconds: 86400 },
  ),
  'POST /api/v1/servers/register': described('Register a server', {
    guild_id: SUBJECT.guild_id,
    name: 'Garden',
  }),
  'GET /api/v1/servers': described('List the servers'),
  'DELETE /api/v1/servers/{guild_id}': described(
    'Remove a server and erase every user of it, at once or later',
  ),
  'POST /api/v1/servers/{guild_id}/cancel-deletion': described('Call off the scheduled deletion of a server'),
  'POST /api/v1/data/register': described('Declare a data category and its fields', PROFILE, {
    bot_id: BOT,
    categories: [
      { name: 'levels', description: 'Experience per user', retention_days: 365, legal_basis: 'consent' },
    ],
  }),
  'GET /api/v1/data/categories': described('List the data categories'),
  'GET /api/v1/data/categories/{key}': described('Read a data category'),
  'PUT /api/v1/data/categories/{key}': described('Change a data category', { label_en: 'Public profile' }),
  'DELETE /api/v1/data/categories/{key}': described('Remove a data category and every value stored under it'),
  'POST /api/v1/consents/request': described(
    "Ask for a user's consent",
    { ...SUBJECT, consent_version: '1.0' },
    { bot_id: BOT, user_id: USER, categories: ['levels'], language: 'en' },
  ),
  'POST /api/v1/consents/accept': described(
    'Record that the user has accepted',
    { ...SUBJECT, consent_version: '1.0' },
    { consent_id: '0198c0de-0000-7000-8000-000000000001', categories: ['levels'] },
  ),
  'POST /api/v1/consents/revoke': described('Record that the user has withdrawn the consent', SUBJECT, {
    bot_id: BOT,
    user_id: USER,
    categories: ['levels'],
  }),
  'GET /api/v1/consents/status': described("Read a user's consent"),
  'GET /api/v1/consents/history': described('List what a user was shown and has decided, newest first'),
  'GET /api/v1/consents/receipt': described('Issue a signed receipt of the consent in force'),
  'POST /api/v1/consents/texts': described('Register the text of a version in one language', {
    consent_version: '1.0',
    language: 'en',
    title: 'May we keep your profile?',
    body: 'We keep the nickname that you choose, to greet you by it. You can withdraw your consent at any time.',
    categories: [{ key: 'profile', label: 'Profile', text: 'Your nickname and your birthday.' }],
    accept_label: 'Yes',
    decline_label: 'No',
    privacy_notice: 'https://bot.example.org/privacy',
    withdrawal_method: 'Type /privacy withdraw',
  }),
  'GET /api/v1/consents/texts': described('List the registered texts, by version and language'),
  'POST /api/v1/data/submit': described(
    'Store data of a user who has consented',
    { ...SUBJECT, category: 'profile', data: { nickname: 'Robin', birthday: '2000-02-29' } },
    { bot_id: BOT, user_id: USER, category: 'levels', data: { experience: 1200 } },
  ),
  'GET /api/v1/data/export/{user_id}': described('Export everything held of a user (GDPR Art. 15)'),
  'GET /api/v1/bots/{bot_id}/processing-record': described(
    'Record of processing activities (GDPR Art. 30), as JSON or Markdown',
  ),
  'POST /api/v1/gdpr/forget-user': described('Erase everything held of a user (GDPR Art. 17)', SUBJECT),
  'GET /api/v1/gdpr/forget-status/{id}': described('Read an erasure request'),
  'GET /api/v1/gdpr/forget-status/{id}/certificate': described('Read the signed certificate of an erasure'),
  'POST /api/v1/audit/event': described('Write an audit event of the bot', {
    ...SUBJECT,
    event_type: 'data_exported',
    details: { channel: 'support' },
  }),
  'GET /api/v1/audit/breach-scope': described('Count whom a breach concerns (GDPR Art. 33)'),
  'GET /api/v1/audit/events': described('List audit events, newest first'),
  'GET /api/v1/audit/proof/{event_id}': described('Prove that an event stands in the sealed log'),
  'GET /api/v1/audit/checkpoints': described('List the signed checkpoints of the log, newest first'),
  'GET /api/v1/audit/export': described(
    'Export the sealed log with all that verifies it, one JSON value a line',
  ),
};
