/** The sentences of the dossier in English. It speaks to the reviewers of a platform. */
export const DOSSIER_EN = {
  title: 'Data protection dossier',
  lead: (time: string) =>
    `For the review of a bot by its platform, for example of privileged intents. Written on ${time} from what the bot has declared and how this installation of Lethe is configured. It covers what the bot stores through Lethe and nothing else.`,
  bot: 'The bot and its controller',
  registered: 'Registered here',
  policy: 'Privacy policy',
  stored: 'What is stored, why, on which legal basis, for how long',
  limits: 'How long the rest is kept',
  backups: 'Backups',
  backupsKept: (days: string) =>
    `The operator keeps backups for ${days} (BACKUP_RETENTION_DAYS). During that time a backup can contain what was erased, values and ids encrypted.`,
  noBackups: 'The operator states that no backups are kept (BACKUP_RETENTION_DAYS is 0).',
  backupFacts: [
    'A backup of the data from before an erasure cannot be read without the keys, and the key of the erased user is destroyed.',
    'A restored backup of data and keys is erased again from a ledger of all erasures before the service answers.',
    'The master key is in no backup that Lethe makes.',
  ],
  encryption: 'Encryption',
  algorithm: 'Algorithm',
  custody: 'Custody of the master key',
  master: {
    environment:
      'The operator gives it to the process in the environment (LETHE_MASTER_KEY). It is not in the database.',
    file: 'In a key file beside the data, not in the database. A copy of the whole disk has both.',
    secret_file:
      'The operator gives it to the process in a file of its own (LETHE_MASTER_KEY_FILE). It is not in the database.',
    command:
      'A program of the operator gives it to the process at each start (LETHE_MASTER_KEY_COMMAND), for example from a key management service. It is not in the database.',
  },
  encryptionFacts: [
    'Each user has a key for each server. It encrypts the stored values and the details of audit events.',
    'These keys, and with them the ids of user and server, are encrypted with the master key. What outlives a key, for example the ids of an erasure that is on record, is encrypted with a key of the installation.',
    'Not encrypted are: what the bot declares; category, state and time of values and consents, with version, language and source of a consent; category, kind and time of objections and restrictions; type and time of audit events, erasures, webhook calls, links and questions to the stores of the bot; categories, numbers of rows and source of an erasure; what the stores of the bot have answered to it: result, numbers, reason to keep data, signed statement; numbers of acts. In place of ids these rows have keyed digests.',
  ],
  access: 'Who has access',
  user: 'Each user, by a link that ends, which the bot gives',
  userReceives: 'what is stored about this user alone',
  operator: 'The operator of this installation',
  operatorReceives:
    'data, keys and master key, with which what is stored can be read; no page of Lethe shows values to the operator',
  deletion: 'Deletion on request',
  deletionFacts: [
    'The bot erases a user in one server or in all of them (POST /gdpr/forget-user), and so does its team in the console.',
    'A user with a link to the privacy page erases there, without the help of the team, if the bot lets the link offer it.',
    'An erasure removes values and consents and destroys the key of the user, so that the details of audit events become unreadable. Type and time of the events stay, and the request of the erasure with its ids, encrypted. Its end is stated in a signed certificate.',
    'Erasures are counted per user and server.',
    'The median is counted in steps and off by less than 10 %. Only completed erasures have a time.',
  ],
  period: 'Period',
  periodOf: (from: string, to: string) => `${from} to ${to}, days in UTC`,
  requested: 'Erasures requested',
  completed: 'Erasures completed',
  failed: 'Erasures failed',
  median: 'Median time from request to end',
  longest: 'Longest time',
  noErasure: 'no erasure was completed',
  consent: 'Consent',
  consentUnlessNamed:
    'A value is accepted only while a consent of its user to the category is in force, whatever the legal basis of the category is, except in the categories of which this dossier says why they need no consent.',
  consentFacts: [
    'A value is accepted only while a consent of its user to the category is in force, whatever the legal basis of the category is.',
    'Each request, acceptance and withdrawal is recorded, with the digest of the words that were shown, where the bot has registered them or Lethe has made them.',
    'These are numbers of acts, not of users. A refusal is not counted; its request is. A restriction counts as a withdrawal, and its end as an acceptance.',
  ],
  asked: 'Requests',
  accepted: 'Accepted',
  revoked: 'Withdrawn, in whole or for categories',
  measures: 'Security measures',
  recipients: 'Hosting and other recipients, as declared by the bot',
  noRecipients: 'none declared',
  toAdd: 'What the team has to add',
  toAddWhy: 'Lethe does not know this:',
  additions: [
    'Each intent that is asked for, and what it is needed for.',
    'What the bot keeps outside of Lethe: its own database, its logs, its cache.',
    'Who of the team has API keys and access to the servers, and how this access is protected.',
    'TLS in front of this service, encrypted disks, and how software is updated.',
    'How a user can reach the team where the bot is offline, and what is done after a breach.',
  ],
  policyGap:
    'There is no privacy policy to link to: make the privacy notice public, or enter the address of your own.',
};
