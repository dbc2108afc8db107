export const EN = {
  subjects:
    'Users of the platform with whom the bot deals, in the guilds that use it and in direct messages.',
  transfers:
    'Not known to this service: it depends on the place of this installation and of the webhook receiver. Their operators have to add it.',
  withdrawn: 'Data that rested on a consent, after its withdrawal',
  evidence: 'Evidence of consents and of erasures, after their end, and audit events',
  webhooks: 'Records of webhook calls, after these have ended',
  bot: 'The bot, by its API key',
  botReceives: 'Everything that is stored of its users, on request',
  receiver: "The bot's webhook receiver",
  receiverReceives:
    'Ids of users and guilds whose consent was withdrawn or who were erased, versions and times',
  measures: {
    access:
      'Access by API key alone; of keys only SHA-256 digests are stored. A bot reaches its own data and no other.',
    values:
      'Stored values and the details of audit events are encrypted with ChaCha20-Poly1305, by a key of its own for each user and guild.',
    masterKey: 'These keys and webhook secrets are encrypted under a master key that is not in the database.',
    erasure: "An erasure destroys the user's key, and of the ids leaves keyed digests alone.",
    consent: 'Data is stored under a consent in force alone, which is checked in the storing transaction.',
    audit: 'Every act on personal data is recorded in an audit log, in the transaction of the act.',
    sealing: 'The audit log is sealed in signed batches: what is changed or removed afterwards is found.',
    overwritten: 'Deleted rows are overwritten in the database file, whose log is truncated.',
    signed: 'Webhook calls are signed with HMAC-SHA-256.',
    signedOverHttps: 'Webhook calls are signed with HMAC-SHA-256 and go over HTTPS alone.',
    networks: 'Webhook calls are kept from private networks and metadata services.',
    limits: 'Requests are limited per bot and per client address.',
    logs: 'Logs, metrics and error messages hold no user ids, values, keys or secrets.',
    durable:
      'Commits are durable before they are answered; interrupted erasures are finished at the next start.',
  },
  document: {
    title: 'Record of processing activities',
    basis: (time: string) =>
      `GDPR Art. 30(1); written ${time} from what the bot has declared and how this service is configured.`,
    controller: 'Controller',
    name: 'Name',
    contact: 'Contact',
    notGiven: 'not given',
    bot: 'Bot',
    platformId: 'platform id',
    subjects: 'Data subjects',
    recipients: 'Recipients',
    transfers: 'Transfers to third countries',
    limits: 'Time limits for erasure',
    noLimit: 'no limit by time',
    days: (days: number) => (days === 1 ? '1 day' : `${days} days`),
    ofCategories: 'Data categories: see below',
    measures: 'Technical and organisational measures',
    activities: 'Processing activities by category of personal data',
    noActivity: 'No data category is declared.',
    key: 'Key',
    purpose: 'Purpose',
    notDeclared: 'not declared',
    legalBasis: 'Legal basis',
    erased: 'Erased',
    noPeriod: 'no period declared',
    afterUpdate: (days: number) => `${days} ${days === 1 ? 'day' : 'days'} after the last update`,
    columns: ['Field', 'Type', 'English', 'German', 'Description'],
    anyValues: 'Any values; no fields are declared.',
  },
};

export type RecordTexts = typeof EN;
