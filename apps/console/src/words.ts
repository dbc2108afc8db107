import { EVENTS_DE } from './event-words';

/** The words for the values of the service, which are the same in every language of the interface. */
const EN = {
  consent: {
    none: 'not asked',
    pending: 'asked',
    accepted: 'accepted',
    revoked: 'withdrawn',
    // No status of the interface: a user without one who has said no.
    declined: 'declined',
  },
  action: {
    requested: 'asked',
    shown: 'shown again',
    accepted: 'accepted',
    declined: 'declined',
    revoked: 'withdrawn',
    categories_withdrawn: 'withdrawn in part',
  },
  delivery: {
    pending: 'waiting',
    delivered: 'delivered',
    exhausted: 'given up',
    gone: 'ended by the receiver',
    cancelled: 'dropped, no address',
  },
  webhook: {
    user_forgotten: 'user erased',
    consent_revoked: 'consent withdrawn',
    data_corrected: 'value corrected',
    holder_task: 'task for a store',
    ping: 'test call',
  },
  outcome: {
    confirmed: 'confirmed',
    refused: 'refused by the receiver',
    gone: 'ended by the receiver',
    redirected: 'redirected, which is not followed',
    timed_out: 'not answered in time',
    not_connected_in_time: 'not connected in time',
    connection_failed: 'connection refused or broken off',
    tls_failed: 'no secure connection',
    name_not_found: 'host name not found',
    blocked_address: 'address not allowed',
    invalid_answer: 'invalid answer',
    answer_too_large: 'answer too large',
    interrupted: 'interrupted',
  },
  basis: {
    consent: 'consent',
    contract: 'contract',
    legal_obligation: 'legal obligation',
    vital_interests: 'vital interests',
    public_task: 'public task',
    legitimate_interests: 'legitimate interests',
  },
  source: { service: 'by the service', client: 'by the bot' },
  event: {
    consent_requested: 'consent asked',
    consent_accepted: 'consent given',
    consent_revoked: 'consent withdrawn',
    data_submitted: 'data stored',
    data_exported: 'data exported',
    data_deleted: 'data deleted',
    deletion_requested: 'erasure requested',
    deletion_completed: 'erasure completed',
    deletion_failed: 'erasure failed',
  },
  act: {
    objection: 'objection',
    restriction: 'restriction',
    restriction_ended: 'restriction ended',
  },
  covered: {
    erased: 'erased',
    nothing: 'had nothing',
    kept: 'kept',
    failed: 'failed, stays open',
    pending: 'not answered yet',
    overdue: 'not answered within 14 days',
    abandoned: 'deleted before it answered',
  },
  detail: {
    version: 'version',
    category: 'category',
    categories: 'categories',
    format: 'format',
    reason: 'reason',
    scope: 'extent',
    via: 'where',
    actor: 'who',
    act: 'right',
    request_id: 'request',
    reapplied: 'repeated after a restore',
  },
  actor: {
    console: 'Console',
    privacy_page: 'Privacy page',
    job: 'The service itself',
  },
  reason: { retention: 'not updated for its retention', consent_revoked: 'consent withdrawn' },
  format: { full: 'everything', record: 'values and consent' },
  scope: { all_guilds: 'all servers' },
  error: {
    not_found: 'It is not there, or no longer there: it may have ended or been erased meanwhile.',
    conflict: 'This does not fit the present state. Load the page anew.',
    suspended:
      'The bot is suspended: it can still read, export, erase, record withdrawals, objections and restrictions, make privacy links, and answer the tasks of its holders.',
    invalid_request: 'The service does not take this input:',
    unauthorized: 'The session has ended.',
    service_unavailable: 'The service cannot do this at the moment:',
    internal_error:
      'Something went wrong in the service. Its operator finds it by the number of the request.',
  },
} as const;

export type Kind = keyof typeof EN;

const DE: { readonly [K in Kind]: Readonly<Record<keyof (typeof EN)[K], string>> } = {
  consent: {
    none: 'nicht gefragt',
    pending: 'gefragt',
    accepted: 'erteilt',
    revoked: 'widerrufen',
    declined: 'abgelehnt',
  },
  action: {
    requested: 'gefragt',
    shown: 'noch einmal gezeigt',
    accepted: 'zugestimmt',
    declined: 'abgelehnt',
    revoked: 'widerrufen',
    categories_withdrawn: 'zum Teil widerrufen',
  },
  delivery: {
    pending: 'wartet',
    delivered: 'zugestellt',
    exhausted: 'aufgegeben',
    gone: 'vom Empfänger beendet',
    cancelled: 'entfallen, keine Adresse',
  },
  webhook: {
    user_forgotten: 'Daten einer Person gelöscht',
    consent_revoked: 'Einwilligung widerrufen',
    data_corrected: 'Wert berichtigt',
    holder_task: 'Auftrag an einen Speicherort',
    ping: 'Testaufruf',
  },
  outcome: {
    confirmed: 'bestätigt',
    refused: 'vom Empfänger abgelehnt',
    gone: 'vom Empfänger beendet',
    redirected: 'umgeleitet, dem wird nicht gefolgt',
    timed_out: 'nicht rechtzeitig beantwortet',
    not_connected_in_time: 'nicht rechtzeitig verbunden',
    connection_failed: 'Verbindung abgelehnt oder abgebrochen',
    tls_failed: 'keine sichere Verbindung',
    name_not_found: 'Rechnername nicht gefunden',
    blocked_address: 'Adresse nicht erlaubt',
    invalid_answer: 'ungültige Antwort',
    answer_too_large: 'Antwort zu groß',
    interrupted: 'unterbrochen',
  },
  basis: {
    consent: 'Einwilligung',
    contract: 'Vertrag',
    legal_obligation: 'rechtliche Verpflichtung',
    vital_interests: 'lebenswichtige Interessen',
    public_task: 'öffentliche Aufgabe',
    legitimate_interests: 'berechtigte Interessen',
  },
  source: { service: 'vom Dienst', client: 'vom Bot' },
  event: EVENTS_DE,
  act: {
    objection: 'Widerspruch',
    restriction: 'Einschränkung',
    restriction_ended: 'Einschränkung aufgehoben',
  },
  covered: {
    erased: 'gelöscht',
    nothing: 'nichts vorhanden',
    kept: 'aufbewahrt',
    failed: 'gescheitert, bleibt offen',
    pending: 'noch keine Antwort',
    overdue: 'keine Antwort in 14 Tagen',
    abandoned: 'vor einer Antwort entfernt',
  },
  detail: {
    version: 'Fassung',
    category: 'Kategorie',
    categories: 'Kategorien',
    format: 'Format',
    reason: 'Grund',
    scope: 'Umfang',
    via: 'Wo',
    actor: 'Wer',
    act: 'Recht',
    request_id: 'Antrag',
    reapplied: 'nach dem Zurückspielen einer Sicherung wiederholt',
  },
  actor: {
    console: 'Konsole',
    privacy_page: 'Datenschutzseite',
    job: 'Der Dienst selbst',
  },
  reason: { retention: 'in seiner Frist nicht erneuert', consent_revoked: 'Einwilligung widerrufen' },
  format: { full: 'alles', record: 'Werte und Einwilligung' },
  scope: { all_guilds: 'alle Server' },
  error: {
    not_found: 'Das gibt es nicht oder nicht mehr: Vielleicht ist es inzwischen beendet oder gelöscht.',
    conflict: 'Das passt nicht zum jetzigen Stand. Laden Sie die Seite neu.',
    suspended:
      'Der Bot ist gesperrt: Er kann weiterhin lesen, exportieren, löschen, Widerrufe, Widersprüche und Einschränkungen vermerken, Links zur Datenschutzseite erstellen und Aufträge seiner Speicherorte beantworten.',
    invalid_request: 'Der Dienst nimmt diese Eingabe nicht an:',
    unauthorized: 'Die Sitzung ist beendet.',
    service_unavailable: 'Der Dienst kann das im Moment nicht ausführen:',
    internal_error:
      'Im Dienst ist etwas schiefgegangen. Sein Betreiber findet es über die Nummer der Anfrage.',
  },
};

/** The words of every language, by kind. */
export const WORDS: Readonly<Record<'en' | 'de', Readonly<Record<Kind, Readonly<Record<string, string>>>>>> =
  {
    en: EN,
    de: DE,
  };

export type Name = (kind: Kind, value: string) => string | undefined;

/** The word for a value of the service; undefined for one that has none, as of a team's own module. */
export function wordFor(language: keyof typeof WORDS, kind: Kind, value: string): string | undefined {
  const words = WORDS[language][kind];
  return Object.hasOwn(words, value) ? words[value] : undefined;
}

/** A number of days, with the word. */
export function ofDays(language: keyof typeof WORDS, number: number): string {
  const unit = { style: 'unit', unit: 'day', unitDisplay: 'long' } as const;
  return new Intl.NumberFormat(language, unit).format(number);
}
