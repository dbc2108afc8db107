// npm run tour: the life of a bot with Lethe over HTTP, with a server on a temporary database.
import { setTimeout as pause } from 'node:timers/promises';
import { startServer } from './server.mjs';
import { Narrator } from './tour.narrator.mjs';
import { Receiver } from './tour.receiver.mjs';

const USER = '123456789012345678';
const GUILD = '223456789012345678';
const SUBJECT = { user_id: USER, guild_id: GUILD };
const VERSION = { ...SUBJECT, consent_version: '1.0' };
const PROFILE = {
  ...SUBJECT,
  category: 'profile',
  data: { nickname: 'Robin', level: 7, birthday: '2000-02-29' },
};
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UUID = /^[0-9a-f-]{36}$/;
const POLLS = 50;
const POLL_PAUSE_MS = 100;

const PURPOSE = {
  description_de: 'Um dich mit deinem Namen und deiner Stufe zu begrüßen',
  description_en: 'To greet you by your name and level',
};
const field = (key, type, labelDe, labelEn) => ({ key, type, label_de: labelDe, label_en: labelEn });
const refused = (status, code) => ({ status, error: { code, message: /./ } });

async function settleIn(tell, webhookUrl) {
  tell.step('Register the bot. No key is needed yet: the answer brings it.');
  const body = { platform_bot_id: '987654321098765432', name: 'Greeter', webhook_url: webhookUrl };
  const bot = await tell.call('POST', '/api/v1/bots/register', {
    body,
    expected: {
      status: 201,
      data: { id: UUID, api_key: /^sk_live_/, webhook_secret: /^whsec_/, notice: /./ },
    },
  });
  tell.why(
    'api_key opens every other call, webhook_secret verifies what Lethe sends to you. Both are shown this once; Lethe keeps only a digest of the key.',
  );

  tell.step('Registering the same bot again is refused.');
  await tell.call('POST', '/api/v1/bots/register', { body, expected: refused(409, 'conflict') });

  tell.step('Without the key every door is closed.');
  await tell.call('GET', `/api/v1/bots/${bot.id}`, { expected: refused(401, 'unauthorized') });

  tell.step('Register a server (guild), and declare what you store: a data category with typed fields.');
  const key = bot.api_key;
  await tell.call('POST', '/api/v1/servers/register', {
    key,
    body: { guild_id: GUILD, name: 'Garden' },
    expected: { status: 201, data: { guild_id: GUILD, name: 'Garden' } },
  });
  const fields = [
    field('nickname', 'string', 'Spitzname', 'Nickname'),
    field('level', 'number', 'Stufe', 'Level'),
    field('birthday', 'date', 'Geburtstag', 'Birthday'),
  ];
  await tell.call('POST', '/api/v1/data/register', {
    key,
    body: { key: 'profile', label_de: 'Profil', label_en: 'Profile', ...PURPOSE, fields },
    expected: { status: 201, data: { id: UUID, key: 'profile', ...PURPOSE, fields } },
  });
  tell.why('The purpose is there in both languages, for the users who are asked and for their privacy page.');
  tell.why('Ids of the platform are strings: as JSON numbers they would lose their last digits.');
  return bot;
}

async function askAndStore(tell, key) {
  tell.step('Nobody has asked the user yet, so nothing may be stored.');
  await tell.call('GET', `/api/v1/consents/status?user_id=${USER}&guild_id=${GUILD}`, {
    key,
    expected: { status: 200, data: { status: 'none', version: null } },
  });
  await tell.call('POST', '/api/v1/data/submit', {
    key,
    body: PROFILE,
    expected: refused(403, 'consent_required'),
  });
  tell.why('Storing needs consent (GDPR Art. 6(1)(a)). Lethe refuses; your code cannot forget the check.');

  tell.step('Ask for consent, show your text to the user, and record what they say.');
  await tell.call('POST', '/api/v1/consents/request', {
    key,
    body: VERSION,
    expected: { status: 201, data: { id: UUID, status: 'pending', version: '1.0', requested_at: TIME } },
  });
  tell.why('Asked is not answered: a submit would still be 403. Now the user presses the button.');
  await tell.call('POST', '/api/v1/consents/accept', {
    key,
    body: VERSION,
    expected: { status: 200, data: { status: 'accepted', accepted_at: TIME } },
  });

  tell.step('Store data. A value that is not what the category declares is named; then it is done right.');
  await tell.call('POST', '/api/v1/data/submit', {
    key,
    body: { ...PROFILE, data: { ...PROFILE.data, level: 'seven' } },
    expected: {
      ...refused(400, 'invalid_request'),
      error: { details: { fields: [{ field: 'data.level' }] } },
    },
  });
  await tell.call('POST', '/api/v1/data/submit', {
    key,
    body: PROFILE,
    expected: { status: 200, data: { ...SUBJECT, category: 'profile', stored: true, updated_at: TIME } },
  });
  tell.why('200 means that it is on the disk, together with its audit event.');

  tell.step('The user asks what you know of them: hand out the export (GDPR Art. 15).');
  await tell.call('GET', `/api/v1/data/export/${USER}?guild_id=${GUILD}`, {
    key,
    expected: {
      status: 200,
      data: {
        userId: USER,
        guildId: GUILD,
        exportedAt: TIME,
        bot: { name: 'Greeter' },
        consent: { status: 'accepted', version: '1.0', acceptedAt: TIME },
        data: { profile: PROFILE.data },
      },
    },
  });
}

async function verified(tell, receiver, event, payload) {
  // The receiver prints no other: the signature is HMAC-SHA256(webhook_secret, raw body).
  const body = await receiver.next();
  console.log(`    received  ${body}`);
  tell.require({ event, ...SUBJECT, ...payload }, JSON.parse(body), 'payload');
}

async function changeOfMind(tell, receiver, bot) {
  const key = bot.api_key;
  tell.step('The user withdraws the consent.');
  await tell.call('POST', '/api/v1/consents/revoke', {
    key,
    body: SUBJECT,
    expected: { status: 200, data: { status: 'revoked', revoked_at: TIME } },
  });

  tell.step('Your receiver is told, so that everything that works with the data can stop.');
  await verified(tell, receiver, 'consent_revoked', { revoked_at: TIME, previous_version: '1.0' });
  tell.why(
    'X-GDPR-Signature is computed over the raw body, before any parsing. docs/receiver.mjs verifies it, then answers.',
  );

  tell.step('From the moment of that answer on nothing more is stored.');
  await tell.call('POST', '/api/v1/data/submit', {
    key,
    body: PROFILE,
    expected: refused(403, 'consent_required'),
  });
}

async function forget(tell, receiver, bot) {
  const key = bot.api_key;
  tell.step('The user wants to be forgotten: erase everything (GDPR Art. 17).');
  const erasure = await tell.call('POST', '/api/v1/gdpr/forget-user', {
    key,
    body: SUBJECT,
    expected: {
      status: 200,
      data: { request_id: UUID, status: 'completed', deleted_categories: ['profile'], completed_at: TIME },
    },
  });
  tell.why('completed means gone, in one transaction; deleted_categories names what was really there.');

  tell.step('Your receiver is told to delete its own copies too, and Lethe notes that it has confirmed.');
  await verified(tell, receiver, 'user_forgotten', {
    request_id: erasure.request_id,
    completed_at: TIME,
  });
  await confirmed(tell, key, erasure.request_id);

  tell.step('Nothing is left: no data to export, no consent on record.');
  await tell.call('GET', `/api/v1/data/export/${USER}?guild_id=${GUILD}`, {
    key,
    expected: refused(404, 'not_found'),
  });
  await tell.call('GET', `/api/v1/consents/status?user_id=${USER}&guild_id=${GUILD}`, {
    key,
    expected: { status: 200, data: { status: 'none', version: null, accepted_at: null, revoked_at: null } },
  });
}

async function confirmed(tell, key, requestId) {
  const path = `/api/v1/gdpr/forget-status/${requestId}`;
  const expected = { status: 200, data: { request_id: requestId, status: 'completed', ...SUBJECT } };
  for (let poll = 1; poll <= POLLS; poll++) {
    const { webhook_sent: isSent } = await tell.call('GET', path, { key, expected });
    if (isSent) return;
    await pause(POLL_PAUSE_MS);
  }
  tell.require(true, false, 'webhook_sent turned true');
}

async function lookBack(tell, bot) {
  tell.step(
    'What remains is the proof: every act that took effect has exactly one audit event, newest first.',
  );
  const types = [
    'deletion_completed',
    'deletion_requested',
    'consent_revoked',
    'data_exported',
    'data_submitted',
    'consent_accepted',
    'consent_requested',
  ];
  await tell.call('GET', `/api/v1/audit/events?user_id=${USER}&guild_id=${GUILD}`, {
    key: bot.api_key,
    expected: {
      status: 200,
      data: {
        events: types.map((type) => ({ event_type: type, ...SUBJECT, created_at: TIME })),
        pagination: { page: 1, page_size: 20, total_count: types.length, total_pages: 1, next: null },
      },
    },
  });
  tell.why('The refused calls left none: a refusal changes nothing.');

  tell.step('Another bot sees nothing of all this, not even that it exists.');
  const other = await tell.call('POST', '/api/v1/bots/register', {
    body: { platform_bot_id: '987654321098765433', name: 'Curious' },
    expected: { status: 201 },
  });
  await tell.call('GET', `/api/v1/bots/${bot.id}`, {
    key: other.api_key,
    expected: refused(404, 'not_found'),
  });
}

async function tour() {
  // The 30 requests a minute of the free tier are enough for one tour, but not for a second one at once.
  const environment = { RATE_LIMIT_TIERS: 'free=300', LOG_LEVEL: 'error' };
  const server = await startServer({ environment, stdout: 'inherit' });
  const receiver = new Receiver();
  const webhookUrl = await receiver.reserve();
  console.log(`A bot's life with Lethe: ${server.url}, its receiver at ${webhookUrl}`);
  const tell = new Narrator(server.url);
  const bot = await settleIn(tell, webhookUrl);
  await receiver.start(bot.webhook_secret);
  await askAndStore(tell, bot.api_key);
  await changeOfMind(tell, receiver, bot);
  await forget(tell, receiver, bot);
  await lookBack(tell, bot);
  receiver.close();
  tell.step(
    'End the server with SIGTERM: it finishes running requests, closes its database, and exits with 0.',
  );
  tell.require(0, await server.stop(), 'the exit code');
  console.log('\nEvery answer fits the contract.');
}

tour().then(
  () => process.exit(0),
  (error) => {
    console.error(`\nNOT AS IN THE CONTRACT: ${error.message}`);
    process.exit(1);
  },
);
