/** The words of the page at `/`. A condition of readiness says what it means, and what the operator does. */
const en = {
  about:
    'This is Lethe: bots store data about people here, with their consent or on another legal basis that the bot names. It exports and erases the data on request, and proves that it did.',
  state: 'State',
  ok: 'Everything works.',
  degraded: 'Requests are answered, but something works worse than configured:',
  notReady: 'It cannot work at present: it is starting or shutting down, or its database does not answer.',
  version: 'Version',
  conditions: {
    rate_limit_local:
      'Redis does not answer: each process counts requests by itself. The operator checks Redis.',
    database_damaged: 'A page of the database is damaged. The operator restores a backup.',
    disk_low:
      'The disk is almost full: nothing new is stored, and erasures continue. The operator makes room.',
    erasure_unfinished:
      'An erasure has not ended yet; it is tried again until it does. The operator looks into the log.',
    clock_step: 'The clock of the machine was set. The operator checks the time of the machine.',
    key_file_missing: 'The key file is missing. The operator puts its copy back before the next start.',
    log_failing: 'The log cannot be written. The operator checks where it is written.',
  },
  otherCondition: 'The operator looks up the condition in the documentation:',
  users: 'You use a bot',
  toUsers:
    'Ask the bot itself what it stores about you, for a copy or for the erasure: many bots have the command /privacy. Its operator is responsible for your data.',
  developers: 'You develop or operate a bot',
  links: {
    guides: 'Guides',
    docs: 'API reference',
    console: 'Console of your bot, for its API key',
    verify: 'Check of a certificate, receipt or proof, in the browser',
    document: 'OpenAPI document (JSON)',
    keys: 'Public keys for the check of certificates, receipts and the audit log (JSON)',
  },
};

const de: typeof en = {
  about:
    'Das ist Lethe: Bots speichern hier Daten über Personen, mit deren Einwilligung oder auf einer anderen Rechtsgrundlage, die der Bot nennt. Auf Verlangen werden die Daten ausgegeben und gelöscht, und die Löschung wird nachgewiesen.',
  state: 'Zustand',
  ok: 'Alles funktioniert.',
  degraded: 'Anfragen werden beantwortet, aber etwas arbeitet schlechter als eingestellt:',
  notReady:
    'Der Dienst kann zurzeit nicht arbeiten: Er startet, er wird beendet, oder seine Datenbank antwortet nicht.',
  version: 'Version',
  conditions: {
    rate_limit_local:
      'Redis antwortet nicht: Jeder Prozess zählt Anfragen für sich. Der Betreiber prüft Redis.',
    database_damaged: 'Eine Seite der Datenbank ist beschädigt. Der Betreiber spielt eine Sicherung ein.',
    disk_low:
      'Der Datenträger ist fast voll: Neues wird nicht gespeichert, Löschungen laufen weiter. Der Betreiber schafft Platz.',
    erasure_unfinished:
      'Eine Löschung ist noch nicht abgeschlossen; sie wird wiederholt, bis sie es ist. Der Betreiber sieht im Protokoll nach.',
    clock_step: 'Die Uhr der Maschine wurde gestellt. Der Betreiber prüft die Zeit der Maschine.',
    key_file_missing:
      'Die Schlüsseldatei fehlt. Der Betreiber legt ihre Kopie vor dem nächsten Start zurück.',
    log_failing:
      'Das Protokoll kann nicht geschrieben werden. Der Betreiber prüft, wohin es geschrieben wird.',
  },
  otherCondition: 'Der Betreiber findet diesen Zustand in der Dokumentation:',
  users: 'Du nutzt einen Bot',
  toUsers:
    'Frage den Bot selbst, was er über dich speichert, und verlange von ihm eine Kopie oder die Löschung: Viele Bots haben den Befehl /privacy. Für deine Daten ist sein Betreiber verantwortlich.',
  developers: 'Du entwickelst oder betreibst einen Bot',
  links: {
    guides: 'Anleitungen (englisch)',
    docs: 'API-Referenz',
    console: 'Konsole deines Bots, für seinen API-Schlüssel',
    verify: 'Prüfung einer Bescheinigung, einer Quittung oder eines Nachweises, im Browser',
    document: 'OpenAPI-Dokument (JSON)',
    keys: 'Öffentliche Schlüssel zur Prüfung von Bescheinigungen, Quittungen und Audit-Protokoll (JSON)',
  },
};

export const FRONT_PAGE_TEXTS = { en, de };
