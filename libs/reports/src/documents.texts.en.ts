import { CONTROLLER_WORDS, OBJECTION, PAGE_TEXTS } from '@app/pages';
import { DOSSIER_EN } from './dossier.texts.en';

const days = (count: number): string => (count === 1 ? '1 day' : `${count} days`);

/** The sentences of the record, the notice and the dossier in English. */
export const EN = {
  ...CONTROLLER_WORDS.en,
  days,
  name: 'Name',
  contact: 'Contact',
  recipients: 'Recipients',
  transfers: 'Transfers to third countries',
  noAutomated: 'There are no decisions based solely on automated processing (Art. 22 GDPR).',
  purpose: 'Purpose',
  legalBasis: 'Legal basis',
  withoutConsent: 'Stored without consent. Reason',
  anyValues: 'Any values; no fields are declared.',
  record: {
    title: 'Record of processing activities',
    basis: (time: string) =>
      `GDPR Art. 30(1). Written on ${time} from what the bot has declared and how this service is configured.`,
    notGiven: 'not given',
    platformId: 'platform id',
    subjectsTitle: 'Data subjects',
    subjects:
      'Users of the platform with whom the bot deals, in the guilds that use it and in direct messages.',
    receives: {
      bot: 'The bot, by its API key',
      botReceives: 'Everything that is stored of its users, on request',
      receiver: "The bot's webhook receiver",
      receiverReceives:
        'Ids of users and guilds at each withdrawal of a consent, erasure of a user, correction by the user (with the category and the names of the fields) and question to the stores of the bot for a copy; versions, times and tasks, no values',
    },
    transfersUnknown:
      'Whether data goes to a third country by the place of this installation or of the webhook receiver is not known to this service. Their operators have to add it.',
    noTransfers: 'None of the recipients that the bot names is in a third country.',
    limitsTitle: 'Time limits for erasure',
    limits: {
      withdrawn: 'Data that rested on a consent, after its withdrawal',
      evidence: 'History of consents and evidence of erasures, after their end, and audit events',
      consents: 'History of consents, after their end, and audit events',
      erasures: 'Evidence of erasures, after their end',
      webhooks: 'Records of webhook calls, after these have ended',
      ids: 'That something was stored about a user, the ids for it, encrypted, and the last state of the consent: until an erasure',
      backups: 'Backups of the operator, which can contain what was erased, values and ids encrypted',
    },
    noLimit: 'no limit by time',
    ofCategories: 'Data categories: see below',
    measuresTitle: 'Technical and organisational measures',
    measures: {
      access:
        'Access by API key, and for users by a link that ends. A bot reaches its own data and no other. Of keys and links SHA-256 digests are stored, of keys also the first 16 characters. Where a request with an Idempotency-Key has made a key or link, its stored answer has it whole, encrypted, for 25 hours at most.',
      values:
        'Stored values and the details of audit events are encrypted with ChaCha20-Poly1305, by a key of its own for each user and guild.',
      masterKey:
        'These keys and webhook secrets are encrypted under a master key that is not in the database.',
      erasure:
        "An erasure destroys the user's key. Of the ids keyed digests are left, and, encrypted in the record of the erasure, the ids.",
      consent: 'Data is stored under a consent in force alone, which is checked in the storing transaction.',
      consentUnlessNamed:
        'Data is stored under a consent in force, which is checked in the storing transaction, except in the categories of which this document says why they need no consent.',
      audit:
        'Consent and its withdrawal, storing, export and erasure are recorded in an audit log, in the transaction of the act; what the bot reads back is not.',
      sealing: 'The audit log is sealed in signed batches: what is changed or removed afterwards is found.',
      overwritten: 'Deleted rows are overwritten in the database file, whose log is truncated.',
      signed: 'Webhook calls are signed with HMAC-SHA-256.',
      signedOverHttps: 'Webhook calls are signed with HMAC-SHA-256 and go over HTTPS alone.',
      networks: 'Webhook calls are kept from private networks and metadata services.',
      networksButOwn:
        'Webhook calls are kept from private networks and metadata services, with the exception of this machine.',
      limits: 'Requests are limited per bot and per client address.',
      logs: 'Logs, metrics and error messages hold no user ids, values, keys or secrets.',
      durable:
        'Commits are durable before they are answered; interrupted erasures are finished at the next start.',
    },
    activitiesTitle: 'Processing activities by category of personal data',
    noActivity: 'No data category is declared.',
    key: 'Key',
    notDeclared: 'not declared',
    erased: 'Erased',
    noPeriod: 'no period declared',
    afterUpdate: (count: number) => `${days(count)} after the last update`,
    columns: ['Field', 'Type', 'English', 'German', 'Description'],
    gapsTitle: 'Open tasks',
    noGaps: 'None of what this service knows about is missing.',
    checks:
      'The team checks by itself whether it has to name a representative in the EU (Art. 27), joint controllers (Art. 26), a duty to give the data (Art. 13(2)(e)), and a source other than the user (Art. 14(2)(f)).',
    moreGaps: 'There are more; they appear when these are done.',
  },
  gaps: {
    controller: 'The controller is missing: enter its name.',
    address: 'The postal address of the controller is missing.',
    contact: 'There is no e-mail address for questions about data protection.',
    recipients: 'No recipient is named: enter at least who runs the servers of this service and of the bot.',
    country: 'The country of a recipient is missing',
    recipientPurpose: 'What a recipient does with the data is missing',
    safeguards: 'The safeguards of a transfer to a third country are missing',
    automated: 'It is missing whether there are automated decisions.',
    interests:
      'A category rests on legitimate interests: the interests that are pursued are missing (Art. 13(1)(d)).',
    categories: 'No data category is declared.',
    purpose: 'The purpose is missing',
    purposeIn: { de: 'The purpose in German is missing', en: 'The purpose in English is missing' },
    retention: 'The retention period is missing',
    fields: 'No fields are declared, so that it cannot be seen which data is meant',
  },
  notice: {
    title: 'Privacy notice',
    lead: 'What this bot stores about its users with Lethe, why, for how long, and which rights you have (Art. 13 and 14 GDPR). What the bot stores elsewhere is not part of this notice.',
    dataTitle: 'What is stored, and why',
    noData: 'The bot has declared no data.',
    moreData: 'There are further categories.',
    moreDataNamed: 'The contact above names them.',
    kept: 'Kept',
    keptDays: (count: number) => `for ${days(count)} after the last change`,
    keptUntilErased: PAGE_TEXTS.en.untilErased,
    keptUntilWithdrawn: PAGE_TEXTS.en.untilWithdrawn,
    noPurpose: 'The bot names none.',
    recipientsTitle: 'Who receives the data',
    operator:
      'The operator of this Lethe installation stores the data for the bot. Values are encrypted, with a key of its own for each user and server.',
    limitsTitle: 'How long the rest is kept',
    withdrawn: (count: number) =>
      `After you withdraw a consent, the data that rested on it is erased after ${days(count)}.`,
    notWithdrawn:
      'After you withdraw a consent, the data that rested on it is kept until you ask for its erasure.',
    evidence: (count: number, ofErasure: number) =>
      `The history of your consent is kept as evidence for ${days(count)} after its end, and so is the log of what was done with your data. An erasure removes the history of your consent. The log then says only that something was done, without your id and your data. The record of the erasure itself has your id for ${ofErasure === count ? 'the same time' : days(ofErasure)}, encrypted.`,
    backups: (count: number) =>
      `Backups are kept for ${days(count)}. During that time a backup can contain what was erased: values and your id only encrypted.`,
    webhooks: (count: number) => `Records of messages to the bot are kept for ${days(count)}.`,
    ids: 'Also after everything else has ended, it stays recorded that something about you was stored here, with your id, encrypted, and with the last state of your consent, until you ask for an erasure.',
    objectTitle: OBJECTION.en.title,
    object: OBJECTION.en.text,
    rightsTitle: 'Your rights',
    rights: [
      'You can get a copy of your data, to read and for programs (Art. 15 and 20 GDPR).',
      'You can have wrong data corrected (Art. 16), have data erased (Art. 17) and have its processing restricted (Art. 18).',
      'You can withdraw a consent at any time with effect for the future (Art. 7(3)).',
    ],
    write: 'For this, write to the contact above.',
    page: 'Where the bot gives you a link to your privacy page, you can do there yourself what the link allows: see, download, correct and erase data, withdraw a consent, object to the processing, and restrict it.',
    complaint:
      'You can complain to a supervisory authority for data protection, for example where you live (Art. 77).',
    authorityHere: 'The authority in charge of the controller',
    version: 'This version',
    noTransfers: 'None of the recipients that the bot names is in a third country.',
    changed: 'Last changed',
    digest: 'Digest of this version',
    digestWhy: 'It changes with every change of what is said here.',
    absent: 'There is no privacy notice here',
    absentWhy: 'This bot does not exist, or its team has not published a notice.',
  },
  dossier: DOSSIER_EN,
};

export type DocumentTexts = typeof EN;
