import { COPY_DE } from './texts.copy';
import { REFUSALS_DE } from './texts.refusals';
import { CORRECTION_DE } from './texts.correction';
import { DUE_DE } from './texts.due';
import { HOLDERS_DE } from './texts.holders';
import { LAST_DE } from './texts.last';
import type { PageTexts } from './texts.en';

/** The words of the page in German. */
export const DE: PageTexts = {
  title: 'Deine Daten',
  intro: (bot) => `${bot} speichert Daten mit Lethe.`,
  introSeen: 'Hier siehst du, was über dich gespeichert ist.',
  introDecided: 'Hier entscheidest du, was über dich gespeichert wird.',
  introBoth: 'Hier siehst du, was über dich gespeichert ist, und entscheidest darüber.',
  scopeOne: 'Diese Seite betrifft dich an einem Ort:',
  scopeAll: 'Diese Seite betrifft dich auf allen Servern dieses Bots.',
  alone: 'Gib den Link zu dieser Seite niemandem: Wer ihn hat, sieht sie auch.',
  expires: (at) => `Er gilt bis zum ${at}.`,
  clock: (time) => `${time} Uhr`,
  zone: 'Alle Zeiten sind in UTC angegeben.',
  guild: (place) => `Server ${place}`,
  direct: 'Direktnachrichten',
  stored: 'Was gespeichert ist',
  nothing: 'Über dich ist nichts gespeichert.',
  nothingStored: 'Es sind keine Werte gespeichert.',
  noValues: (count) =>
    count === 1
      ? 'Eine Kategorie, in der nichts gespeichert ist'
      : `${count} Kategorien, in denen nichts gespeichert ist`,
  others: 'Weitere Kategorien',
  why: 'Wofür und wie lange',
  whyWithoutConsent: 'Warum ohne Einwilligung, wofür und wie lange',
  purpose: 'Zweck',
  basis: 'Rechtsgrundlage',
  basisOf: {
    consent: 'Einwilligung (Art. 6 Abs. 1 lit. a DSGVO)',
    contract: 'Vertrag (Art. 6 Abs. 1 lit. b DSGVO)',
    legal_obligation: 'rechtliche Verpflichtung (Art. 6 Abs. 1 lit. c DSGVO)',
    vital_interests: 'lebenswichtige Interessen (Art. 6 Abs. 1 lit. d DSGVO)',
    public_task: 'öffentliche Aufgabe (Art. 6 Abs. 1 lit. e DSGVO)',
    legitimate_interests: 'berechtigte Interessen (Art. 6 Abs. 1 lit. f DSGVO)',
  },
  withoutConsent: 'ohne Einwilligung gespeichert',
  withoutConsentReason: 'Ohne Einwilligung: Begründung des Bots',
  retention: 'Gespeichert',
  noPurpose: 'Der Bot nennt keinen.',
  days: (days) => `${days === 1 ? 'einen Tag' : `${days} Tage`} lang nach der letzten Änderung`,
  untilWithdrawn: (days) =>
    days === 0
      ? 'bis du deine Einwilligung widerrufst oder die Löschung verlangst'
      : `bis du die Löschung verlangst oder bis ${days === 1 ? 'einen Tag' : `${days} Tage`} nach deinem Widerruf`,
  untilErased: 'bis du die Löschung verlangst',
  due: DUE_DE,
  empty: 'kein Wert',
  yes: 'ja',
  no: 'nein',
  more: 'Es gibt noch mehr. Die Kopien unten enthalten alles.',
  moreOnFirst: 'Es gibt noch mehr. Die Kopien auf der ersten Seite deines Links enthalten alles.',
  moreOf: 'Es gibt noch mehr. Eine eigene Seite zeigt mehr davon:',
  moreUncopied: 'Es gibt noch mehr. Bitte den Bot um eine Kopie von allem.',
  unreadable: 'Einige Werte lassen sich nicht lesen. Bitte frage beim Team des Bots nach.',
  hidden: 'Dieser Link zeigt nicht, was gespeichert ist.',
  consent: 'Deine Einwilligung',
  state: {
    none: 'Du hast keine Einwilligung gegeben, und keine Anfrage wartet auf deine Antwort.',
    pending: 'Du wurdest gefragt und hast noch nicht geantwortet.',
    accepted: 'Du hast eingewilligt.',
    revoked: 'Du hast deine Einwilligung widerrufen.',
  },
  declined: (at) =>
    `Du hast am ${at} abgelehnt. Wenn du es dir anders überlegst, lass dich vom Bot noch einmal fragen: Dann kannst du dort oder hier einwilligen.`,
  declinedNewer: (at) =>
    `Eine neuere Anfrage hast du am ${at} abgelehnt. Deine frühere Einwilligung gilt weiter.`,
  declinedHere: (at) =>
    `Du hast am ${at} abgelehnt. Wenn du es dir anders überlegst, kannst du hier noch einmal entscheiden.`,
  again: 'Noch einmal entscheiden',
  stateOf: {
    none: 'nicht gewählt',
    pending: 'gefragt',
    accepted: 'eingewilligt',
    revoked: 'widerrufen',
  },
  note: {
    accepted: 'Deine Einwilligung ist vermerkt.',
    declined: 'Deine Antwort ist vermerkt: Du hast nicht eingewilligt.',
    revoked: 'Dein Widerruf ist vermerkt.',
    asked: 'Lies die Anfrage noch einmal und entscheide. Bis dahin bleibt alles, wie es ist.',
    ended:
      'Diese Anfrage gibt es so nicht mehr. Deshalb wurde nichts vermerkt. Bitte lass dich vom Bot noch einmal fragen.',
    answered: 'Darauf hast du schon geantwortet. Unten siehst du, was jetzt gilt.',
    withdrawn: 'Das war schon widerrufen. Unten siehst du, was jetzt gilt.',
    choose: 'Wähle mindestens eine Kategorie aus oder lehne ab. Bisher wurde nichts vermerkt.',
    erased: 'Die Daten dieser Kategorie sind gelöscht.',
    erasedBefore: 'In dieser Kategorie ist nichts mehr gespeichert.',
    corrected: 'Deine Berichtigung ist gespeichert.',
    ...REFUSALS_DE.note,
    same: 'Dieser Wert war schon gespeichert. Deshalb wurde nichts geändert.',
    uncorrected:
      'Es wurde nichts geändert. Dieser Wert lässt sich hier nicht mehr berichtigen: Deine Einwilligung dazu ist beendet, er ist gelöscht, oder der Bot lässt es nicht mehr zu.',
    empty: 'Hier sind keine Werte und keine Einwilligung von dir gespeichert, deshalb gibt es keine Kopie.',
    changed:
      'Die Anfrage hat sich geändert, seit du diese Seite geöffnet hast. Deshalb wurde nichts vermerkt. Bitte lies sie noch einmal und entscheide.',
  },
  did: {
    accepted: (what) => (what === '' ? 'Du hast eingewilligt.' : `Du hast eingewilligt: ${what}.`),
    revoked: (what) =>
      what === '' ? 'Du hast deine ganze Einwilligung widerrufen.' : `Widerrufen: ${what}.`,
    erased: (what) => `Gelöscht: ${what}.`,
    corrected: (what) => `Berichtigt: ${what}.`,
  },
  asked: 'Der Bot bittet um deine Einwilligung',
  choose: 'Wähle aus, worin du einwilligst. Du kannst das hier jederzeit widerrufen.',
  accept: 'In die Auswahl einwilligen',
  acceptAll: 'Ich willige ein',
  decline: 'Nein, danke',
  revoke: 'Widerrufen:',
  revokeAll: 'Ganze Einwilligung widerrufen',
  words: 'Der Text, der dir gezeigt wurde',
  history: 'Verlauf deiner Einwilligung',
  action: {
    requested: 'gefragt',
    shown: 'erneut gezeigt',
    accepted: 'eingewilligt',
    declined: 'abgelehnt',
    revoked: 'widerrufen',
    categories_withdrawn: 'teilweise widerrufen',
  },
  done: 'Was bisher geschehen ist',
  latest: 'Das sind die letzten acht.',
  latestCopied: 'Das sind die letzten acht; die Kopie zum Lesen enthält alle.',
  event: {
    consent_requested: 'Du wurdest um Einwilligung gebeten',
    consent_accepted: 'Eine Einwilligung wurde erteilt',
    consent_revoked: 'Eine Einwilligung wurde widerrufen',
    data_submitted: 'Daten wurden gespeichert',
    data_exported: 'Daten wurden exportiert',
    data_deleted: 'Daten wurden entfernt',
    deletion_requested: 'Eine Löschung wurde verlangt',
    deletion_completed: 'Eine Löschung wurde abgeschlossen',
    deletion_failed: 'Eine Löschung ist gescheitert',
  },
  byBot: 'Der Bot hat vermerkt',
  viaPage: 'auf deiner Datenschutzseite',
  export: 'Kopie erhalten',
  exportWhy:
    'Alles, was über dich gespeichert ist, samt dem Verlauf deiner Einwilligung: zum Lesen und Drucken oder als JSON für Programme.',
  exportHtml: 'Zum Lesen herunterladen',
  exportJson: 'Als JSON herunterladen',
  exportTitle: 'Eine Kopie deiner Daten',
  exportedAt: (at) => `Erstellt am ${at}.`,
  userId: (id) => `Deine ID ist ${id}.`,
  serverId: (id) => `ID des Servers: ${id}`,
  version: (version) => `Fassung der Anfrage: ${version}`,
  ...COPY_DE,
  rights: 'Deine Rechte',
  rightsText: [
    'Du kannst falsche Daten berichtigen (Art. 16 DSGVO), Daten löschen (Art. 17) und ihre Verarbeitung einschränken lassen (Art. 18).',
    'Du kannst eine Einwilligung jederzeit mit Wirkung für die Zukunft widerrufen (Art. 7 Abs. 3).',
    'Du kannst dich bei einer Aufsichtsbehörde für den Datenschutz beschweren, zum Beispiel an deinem Wohnort (Art. 77).',
  ],
  correction: CORRECTION_DE,
  refusals: REFUSALS_DE,
  holders: HOLDERS_DE,
  last: LAST_DE,
  erase: (what) => `${what} löschen …`,
  eraseSure: (what) => `${what} löschen?`,
  eraseLast:
    'Was in dieser Kategorie über dich gespeichert ist, wird sofort gelöscht. Das lässt sich nicht rückgängig machen. Was der Bot anderswo speichert, bleibt. Eine Bescheinigung gibt es nur, wenn du alles löschst.',
  eraseConsent:
    'Deine Einwilligung bleibt: Der Bot kann hier wieder etwas speichern. Wenn du das nicht möchtest, widerrufe sie.',
  eraseFree: {
    again:
      'Der Bot kann hier auch ohne deine Einwilligung wieder etwas speichern. Ein Widerruf ändert daran nichts.',
    object: 'Wenn du das nicht möchtest, widersprich der Verarbeitung.',
    restrict: 'Wenn du das nicht möchtest, schränke die Verarbeitung ein.',
    both: 'Wenn du das nicht möchtest, widersprich der Verarbeitung oder schränke sie ein.',
  },
  eraseNow: 'Ja, löschen',
  forget: 'Alles löschen',
  forgetWhy:
    'Löscht alle Daten, die hier über dich gespeichert sind, samt Einwilligung und Verlauf. Das lässt sich nicht rückgängig machen.',
  forgetAsk: 'Löschen …',
  forgetSure: 'Alles über dich löschen?',
  forgetLast:
    'Alle Werte, deine Einwilligung und ihr Verlauf werden gelöscht, und der Schlüssel, der sie verschlüsselt, wird vernichtet.',
  forgetBeyond:
    'Nachrichten auf der Plattform und was der Bot anderswo speichert, bleiben. Wenn du eine Kopie möchtest, lade sie vorher herunter.',
  forgetNow: 'Ja, alles löschen',
  back: 'Zurück',
  forgotten: 'Deine Daten sind gelöscht',
  forgottenText:
    'Alles, was hier über dich gespeichert war, ist gelöscht. Der Link zu dieser Seite ist beendet.',
  forgottenKept: (evidence, backups) =>
    `Die Aufzeichnung der Löschung enthält deine ID noch ${evidence === 1 ? 'einen Tag' : `${evidence} Tage`} lang, nur verschlüsselt.${
      backups === 0
        ? ''
        : ` Sicherungen können noch ${backups === 1 ? 'einen Tag' : `${backups} Tage`} lang enthalten, was gelöscht ist: Werte und deine ID nur verschlüsselt.`
    }`,
  forgottenPart: 'Es ist noch nicht alles gelöscht',
  forgottenPartText:
    'Einige Server sind noch nicht erledigt: Öffne die Seite noch einmal und lösche den Rest. Bewahre vorher die Bescheinigungen unten auf, denn nur hier werden sie gezeigt.',
  forgetRest: 'Seite noch einmal öffnen',
  forgottenNothing: 'Über dich war nichts gespeichert.',
  keep: 'Bewahre diese Bescheinigung auf',
  request: 'Nummer der Löschung',
  salt: 'Salt, der dir die Bescheinigung zuordnet',
  certificate: 'Bescheinigung',
  downloadCertificate: 'Bescheinigung herunterladen',
  verify: 'Bescheinigung prüfen',
  dead: 'Dieser Link gilt nicht',
  deadText:
    'Er gilt nicht mehr, wurde für eine Löschung benutzt oder hat nie bestanden. Bitte den Bot um einen neuen.',
  refused: 'Das geht hier nicht',
  refusedText:
    'Der Link erlaubt es nicht, oder das Formular kam nicht von dieser Seite. Öffne die Seite neu und versuche es dort.',
  suspended:
    'Der Bot ist gesperrt: Du kannst ansehen, exportieren, widerrufen, widersprechen, einschränken und löschen, sonst nichts.',
  busy: 'Zu viele Anfragen',
  busyText: 'Bitte warte eine Minute und versuche es noch einmal.',
  conflict: 'Eine Löschung läuft',
  conflictText: 'Deine Daten werden schon gelöscht. Öffne die Seite gleich noch einmal.',
  large: 'Es wurde nichts vermerkt: Das Gesendete ist zu lang. Bitte geh zurück und kürze es.',
  fault: 'Das hat nicht geklappt',
  faultText: 'Bitte versuche es gleich noch einmal.',
  onRecord: 'Deine Löschung ist vermerkt',
  onRecordText: (id) =>
    `Sie hat die Nummer ${id} und wird so bald wie möglich abgeschlossen, ohne dass du sie noch einmal verlangen musst. Zeigt deine Seite später noch etwas an, kannst du es dort löschen.`,
  language: 'Sprache',
  replaces: (days, isNamed) => [
    'Wenn du einwilligst, ersetzt das deine bisherige Einwilligung: Für ',
    `${isNamed ? ' und ' : ''}alles, was du nicht auswählst, endet sie${
      days === undefined
        ? ''
        : `, und was dort aufgrund deiner Einwilligung gespeichert ist, wird ${days === 0 ? 'dann' : `nach ${days === 1 ? 'einem Tag' : `${days} Tagen`}`} gelöscht`
    }.`,
  ],
  readAndDecide: 'Die ganze Anfrage lesen und entscheiden',
  further: 'Weitere Server',
  furtherMore: 'Es gibt noch mehr Server. Lass dir vom Bot einen Link nur zu einem davon geben.',
};
