const text = { type: 'string' };
const snowflake = { type: 'string', pattern: '^\\d{17,20}$' };
const timestamp = { type: 'string', format: 'date-time' };
const uuid = { type: 'string', format: 'uuid' };
const subject = { user_id: snowflake, guild_id: snowflake };

/** The body of a call about an event: the fields that every such call has, and those that some have. */
function payload(event: string, always: Record<string, object>, sometimes: Record<string, object> = {}) {
  return {
    type: 'object',
    required: ['event', ...Object.keys(always)],
    properties: { event: { type: 'string', enum: [event] }, ...always, ...sometimes },
  };
}

/** The bodies of webhook calls (specification, Part 6). */
export const WEBHOOK_SCHEMAS = {
  UserForgottenPayload: payload(
    'user_forgotten',
    { request_id: uuid, ...subject, completed_at: timestamp },
    { notice: { ...text, description: 'Only data stored through the service is affected' } },
  ),
  ConsentRevokedPayload: payload(
    'consent_revoked',
    { ...subject, revoked_at: timestamp },
    { previous_version: text },
  ),
  DataCorrectedPayload: payload('data_corrected', {
    ...subject,
    category: { ...text, description: 'Key of the category' },
    fields: {
      type: 'array',
      items: text,
      description: 'Keys of the corrected fields; the values are read by `GET /data/values/{user_id}`',
    },
    at: timestamp,
  }),
  HolderTaskPayload: payload('holder_task', {
    holder: { ...text, description: 'Key of the holder' },
    task_id: uuid,
    act: { type: 'string', enum: ['erase', 'export'] },
    request_id: { ...uuid, description: 'The erasure; for an export the task itself' },
    ...subject,
    created_at: timestamp,
    due_at: { ...timestamp, description: 'From this time the task is overdue' },
  }),
};

function header(name: string, description: string, schema: object) {
  return { name, in: 'header', required: true, description, schema };
}

function signedBy(event: string) {
  return [
    header(
      'X-GDPR-Signature',
      'HMAC-SHA256 of the raw body, keyed with the UTF-8 bytes of the whole `webhook_secret`',
      { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' },
    ),
    header('X-GDPR-Event', 'What happened', { type: 'string', enum: [event] }),
    header(
      'webhook-id',
      'The same in all attempts of one delivery, so that a repetition can be recognised',
      text,
    ),
    header('webhook-timestamp', 'Unix time in seconds of this attempt', {
      type: 'string',
      pattern: '^\\d+$',
    }),
    header(
      'webhook-signature',
      'Signatures as in Standard Webhooks, separated by spaces: `v1` with the secret, and `v1a` (Ed25519) with the key of the bot in ' +
        '`/.well-known/lethe-webhook-keys/{bot_id}`',
      text,
    ),
  ];
}

function webhook(event: string, operationId: string, summary: string, description: string, example: object) {
  const payload = operationId.replace(/^on/, '');
  return {
    post: {
      operationId,
      tags: ['Webhooks'],
      summary,
      description: `${description} Delivered at least once, in no promised order; a redirect counts as a failure.`,
      security: [],
      parameters: signedBy(event),
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: { $ref: `#/components/schemas/${payload}Payload` }, example },
        },
      },
      responses: {
        '2XX': { description: 'Received; any status from 200 to 299 confirms it' },
        '410': { description: 'The delivery is not tried again' },
        default: { description: 'Not received: tried again later' },
      },
    },
  };
}

const SUBJECT = { user_id: '123456789012345678', guild_id: '223456789012345678' };

/** The calls of Lethe to a bot's `webhook_url`. */
export const WEBHOOKS = {
  user_forgotten: webhook(
    'user_forgotten',
    'onUserForgotten',
    'An erasure has completed',
    'The bot is expected to delete what it keeps of the user itself.',
    {
      event: 'user_forgotten',
      request_id: '0198c0de-0000-7000-8000-000000000001',
      ...SUBJECT,
      completed_at: '2026-11-20T12:00:00.000Z',
    },
  ),
  consent_revoked: webhook(
    'consent_revoked',
    'onConsentRevoked',
    'A consent was revoked',
    'The bot is expected to stop processing for that user.',
    { event: 'consent_revoked', ...SUBJECT, revoked_at: '2026-11-20T12:00:00.000Z', previous_version: '1.0' },
  ),
  data_corrected: webhook(
    'data_corrected',
    'onDataCorrected',
    'A user has corrected a value',
    'Only for fields that a category declares as `editable`. The bot is expected to read the value anew, and to correct its copies (GDPR Art. 16).',
    {
      event: 'data_corrected',
      ...SUBJECT,
      category: 'profile',
      fields: ['nickname'],
      at: '2026-11-20T12:00:00.000Z',
    },
  ),
  holder_task: webhook(
    'holder_task',
    'onHolderTask',
    'A holder of the bot has a task',
    'Only for holders of the kind `webhook`. The store is expected to erase the user, or with the `act` export to state what it has ' +
      'about the user and to erase nothing. The bot answers by ' +
      '`POST /holders/{key}/tasks/{task_id}/acknowledge`: a status confirms that the call came, and answers no task.',
    {
      event: 'holder_task',
      holder: 'database',
      task_id: '0198c0de-0000-7000-8000-000000000001',
      act: 'erase',
      request_id: '0198c0de-0000-7000-8000-000000000001',
      ...SUBJECT,
      created_at: '2026-11-20T12:00:00.000Z',
      due_at: '2026-12-04T12:00:00.000Z',
    },
  ),
};
