import { CONTROLLER_WORDS, OBJECTION, PAGE_TEXTS } from '@app/pages';
import { DOSSIER_DE } from './dossier.texts.de';
import type { DocumentTexts } from './documents.texts.en';

const days = (count: number): string => (count === 1 ? '1 Tag' : `${count} Tage`);
const forDays = (count: number): string => (count === 1 ? 'einen Tag lang' : `${count} Tage lang`);
const afterDays = (count: number): string => (count === 1 ? 'einem Tag' : `${count} Tagen`);

/** The same in German. The record speaks to a team, the notice to a user. */
export const DE: DocumentTexts = {
  ...CONTROLLER_WORDS.de,
  days,
  name: 'Name',
  contact: 'Kontakt',
  recipients: 'Empfänger',
  transfers: 'Übermittlungen in Drittländer',
  noAutomated:
    'Es gibt keine Entscheidungen, die allein auf automatisierter Verarbeitung beruhen (Art. 22 DSGVO).',
  purpose: 'Zweck',
  legalBasis: 'Rechtsgrundlage',
  withoutConsent: 'Ohne Einwilligung gespeichert. Begründung',
  anyValues: 'Beliebige Werte; es sind keine Felder angegeben.',
  record: {
    title: 'Verzeichnis von Verarbeitungstätigkeiten',
    basis: (time) =>
      `Art. 30 Abs. 1 DSGVO. Erstellt am ${time} aus den Angaben des Bots und der Konfiguration dieses Dienstes.`,
    notGiven: 'nicht angegeben',
    platformId: 'Plattform-ID',
    subjectsTitle: 'Betroffene Personen',
    subjects:
      'Nutzer der Plattform, mit denen der Bot zu tun hat, auf den Servern, die ihn einsetzen, und in Direktnachrichten.',
    receives: {
      bot: 'Der Bot, mit seinem API-Schlüssel',
      botReceives: 'alles, was über seine Nutzer gespeichert ist, auf Anfrage',
      receiver: 'Der Webhook-Empfänger des Bots',
      receiverReceives:
        'IDs der Nutzer und Server bei jedem Widerruf einer Einwilligung, jeder Löschung eines Nutzers, jeder Berichtigung durch den Nutzer (mit Kategorie und Namen der Felder) und jeder Anfrage nach einer Kopie aus den eigenen Speichern des Bots; außerdem Versionen, Zeiten und Aufträge, aber keine Werte',
    },
    transfersUnknown:
      'Ob durch den Standort dieser Installation oder des Webhook-Empfängers Daten in ein Drittland gelangen, ist diesem Dienst nicht bekannt. Deren Betreiber müssen es ergänzen.',
    noTransfers: 'Keiner der Empfänger, die der Bot nennt, sitzt in einem Drittland.',
    limitsTitle: 'Löschfristen',
    limits: {
      withdrawn: 'Daten, die auf einer Einwilligung beruhten, nach deren Widerruf',
      evidence:
        'Verlauf der Einwilligungen und Aufzeichnungen von Löschungen, nach deren Ende, und Ereignisse des Protokolls',
      consents: 'Verlauf der Einwilligungen, nach deren Ende, und Ereignisse des Protokolls',
      erasures: 'Aufzeichnungen von Löschungen, nach deren Ende',
      webhooks: 'Aufzeichnungen von Webhook-Aufrufen, nach deren Ende',
      ids: 'Dass über einen Nutzer etwas gespeichert war, die IDs dazu, verschlüsselt, und der letzte Stand der Einwilligung: bis zu einer Löschung',
      backups: 'Sicherungen des Betreibers, die Gelöschtes enthalten können, Werte und IDs verschlüsselt',
    },
    noLimit: 'ohne zeitliche Grenze',
    ofCategories: 'Datenkategorien: siehe unten',
    measuresTitle: 'Technische und organisatorische Maßnahmen',
    measures: {
      access:
        'Zugriff nur mit API-Schlüssel, für Nutzer mit einem befristeten Link. Ein Bot erreicht nur seine eigenen Daten. Von Schlüsseln und Links sind SHA-256-Hashwerte gespeichert, von Schlüsseln auch die ersten 16 Zeichen. Hat eine Anfrage mit Idempotency-Key einen Schlüssel oder Link erstellt, enthält die dafür gespeicherte Antwort ihn ganz, verschlüsselt und höchstens 25 Stunden lang.',
      values:
        'Gespeicherte Werte und die Einzelheiten der Protokollereignisse sind mit ChaCha20-Poly1305 verschlüsselt, mit einem eigenen Schlüssel je Nutzer und Server.',
      masterKey:
        'Diese Schlüssel und die Webhook-Geheimnisse sind mit einem Hauptschlüssel verschlüsselt, der nicht in der Datenbank liegt.',
      erasure:
        'Eine Löschung vernichtet den Schlüssel des Nutzers. Von den IDs bleiben Hashwerte, die mit einem geheimen Schlüssel gebildet sind, und in der Aufzeichnung der Löschung die IDs selbst, verschlüsselt.',
      consent:
        'Daten werden nur gespeichert, solange eine Einwilligung gilt; das prüft die speichernde Transaktion.',
      consentUnlessNamed:
        'Daten werden nur gespeichert, solange eine Einwilligung gilt; das prüft die speichernde Transaktion. Ausgenommen sind die Kategorien, bei denen dieses Dokument sagt, warum sie keine Einwilligung brauchen.',
      audit:
        'Einwilligung und Widerruf, Speichern, Export und Löschung stehen in einem Protokoll, in der Transaktion der Handlung; was der Bot zurückliest, nicht.',
      sealing:
        'Das Protokoll wird in signierten Abschnitten versiegelt: Was später geändert oder entfernt wird, fällt auf.',
      overwritten: 'Gelöschte Zeilen werden in der Datenbankdatei überschrieben; deren Journal wird gekürzt.',
      signed: 'Webhook-Aufrufe sind mit HMAC-SHA-256 signiert.',
      signedOverHttps: 'Webhook-Aufrufe sind mit HMAC-SHA-256 signiert und gehen nur über HTTPS.',
      networks: 'Webhook-Aufrufe gehen nicht an private Netze und Metadaten-Dienste.',
      networksButOwn:
        'Webhook-Aufrufe gehen nicht an private Netze und Metadaten-Dienste, ausgenommen dieser Rechner.',
      limits: 'Anfragen sind je Bot und je Client-Adresse begrenzt.',
      logs: 'Logs, Messwerte und Fehlermeldungen enthalten keine Nutzer-IDs, Werte, Schlüssel oder Geheimnisse.',
      durable:
        'Was beantwortet ist, ist dauerhaft gespeichert; unterbrochene Löschungen werden beim nächsten Start beendet.',
    },
    activitiesTitle: 'Verarbeitungstätigkeiten nach Kategorien personenbezogener Daten',
    noActivity: 'Es ist keine Datenkategorie angegeben.',
    key: 'Schlüssel',
    notDeclared: 'nicht angegeben',
    erased: 'Gelöscht',
    noPeriod: 'keine Frist angegeben',
    afterUpdate: (count) => `${days(count)} nach der letzten Änderung`,
    columns: ['Feld', 'Typ', 'Englisch', 'Deutsch', 'Beschreibung'],
    gapsTitle: 'Offene Aufgaben',
    noGaps: 'Von dem, was dieser Dienst kennt, fehlt nichts.',
    checks:
      'Das Team prüft selbst, ob es einen Vertreter in der EU (Art. 27), gemeinsam Verantwortliche (Art. 26), eine Pflicht zur Angabe der Daten (Art. 13 Abs. 2 lit. e) und eine andere Quelle als den Nutzer (Art. 14 Abs. 2 lit. f) nennen muss.',
    moreGaps: 'Es gibt noch weitere; sie erscheinen, wenn diese erledigt sind.',
  },
  gaps: {
    controller: 'Der Name des Verantwortlichen fehlt.',
    address: 'Die Anschrift des Verantwortlichen fehlt.',
    contact: 'Es fehlt eine E-Mail-Adresse für Fragen zum Datenschutz.',
    recipients:
      'Es ist kein Empfänger genannt. Mindestens der Betreiber der Server, auf denen dieser Dienst und der Bot laufen, ist einer.',
    country: 'Das Land eines Empfängers fehlt',
    recipientPurpose: 'Es fehlt die Angabe, was ein Empfänger mit den Daten tut',
    safeguards: 'Die Garantien einer Übermittlung in ein Drittland fehlen',
    automated: 'Es fehlt die Angabe, ob es automatisierte Entscheidungen gibt.',
    interests:
      'Eine Kategorie beruht auf berechtigten Interessen: Es fehlt, welche verfolgt werden (Art. 13 Abs. 1 lit. d).',
    categories: 'Es ist keine Datenkategorie angegeben.',
    purpose: 'Der Zweck fehlt',
    purposeIn: { de: 'Der Zweck auf Deutsch fehlt', en: 'Der Zweck auf Englisch fehlt' },
    retention: 'Die Speicherdauer fehlt',
    fields: 'Es sind keine Felder angegeben: So ist nicht zu sehen, welche Daten gemeint sind',
  },
  notice: {
    title: 'Datenschutzhinweise',
    lead: 'Was dieser Bot mit Lethe über seine Nutzer speichert, wozu, wie lange, und welche Rechte du hast (Art. 13 und 14 DSGVO). Was der Bot anderswo speichert, gehört nicht zu diesen Hinweisen.',
    dataTitle: 'Was gespeichert wird und wozu',
    noData: 'Der Bot hat keine Daten angegeben.',
    moreData: 'Es gibt weitere Kategorien.',
    moreDataNamed: 'Der Kontakt oben nennt sie dir.',
    kept: 'Gespeichert',
    keptDays: (count) => `${forDays(count)} nach der letzten Änderung`,
    keptUntilErased: PAGE_TEXTS.de.untilErased,
    keptUntilWithdrawn: PAGE_TEXTS.de.untilWithdrawn,
    noPurpose: 'Der Bot nennt keinen.',
    recipientsTitle: 'Wer die Daten erhält',
    operator:
      'Der Betreiber dieser Lethe-Installation speichert die Daten für den Bot. Die Werte sind verschlüsselt, mit einem eigenen Schlüssel je Nutzer und Server.',
    limitsTitle: 'Wie lange das Übrige gespeichert wird',
    withdrawn: (count) =>
      `Widerrufst du eine Einwilligung, werden die Daten, die auf ihr beruhten, nach ${afterDays(count)} gelöscht.`,
    notWithdrawn:
      'Widerrufst du eine Einwilligung, bleiben die Daten, die auf ihr beruhten, bis du ihre Löschung verlangst.',
    evidence: (count, ofErasure) =>
      `Der Verlauf deiner Einwilligung wird nach deren Ende als Nachweis noch ${forDays(count)} aufbewahrt, ebenso lange das Protokoll darüber, was mit deinen Daten geschah. Eine Löschung entfernt den Verlauf deiner Einwilligung. Im Protokoll steht danach nur noch, dass etwas geschah, ohne deine ID und deine Daten. Die Aufzeichnung der Löschung selbst enthält deine ID ${ofErasure === count ? 'ebenso lange' : forDays(ofErasure)}, nur verschlüsselt.`,
    backups: (count) =>
      `Sicherungen werden ${forDays(count)} aufbewahrt. So lange kann eine Sicherung enthalten, was gelöscht ist: Werte und deine ID nur verschlüsselt.`,
    webhooks: (count) => `Aufzeichnungen von Meldungen an den Bot werden ${forDays(count)} aufbewahrt.`,
    ids: 'Auch wenn alles andere abgelaufen ist, bleibt vermerkt, dass hier etwas über dich gespeichert war, mit deiner ID, verschlüsselt, und mit dem letzten Stand deiner Einwilligung, bis du eine Löschung verlangst.',
    objectTitle: OBJECTION.de.title,
    object: OBJECTION.de.text,
    rightsTitle: 'Deine Rechte',
    rights: [
      'Du bekommst eine Kopie deiner Daten, zum Lesen und für Programme (Art. 15 und 20 DSGVO).',
      'Du kannst falsche Daten berichtigen (Art. 16), Daten löschen (Art. 17) und ihre Verarbeitung einschränken lassen (Art. 18).',
      'Du kannst eine Einwilligung jederzeit mit Wirkung für die Zukunft widerrufen (Art. 7 Abs. 3).',
    ],
    write: 'Schreibe dafür an den Kontakt oben.',
    page: 'Gibt dir der Bot einen Link zu deiner Datenschutzseite, kannst du dort selbst tun, was der Link erlaubt: Daten ansehen, herunterladen, berichtigen und löschen, eine Einwilligung widerrufen, der Verarbeitung widersprechen und sie einschränken.',
    complaint:
      'Du kannst dich bei einer Aufsichtsbehörde für den Datenschutz beschweren, zum Beispiel an deinem Wohnort (Art. 77).',
    authorityHere: 'Die für den Verantwortlichen zuständige Behörde',
    version: 'Diese Fassung',
    noTransfers: 'Keiner der Empfänger, die der Bot nennt, sitzt in einem Drittland.',
    changed: 'Zuletzt geändert',
    digest: 'Prüfsumme dieser Fassung',
    digestWhy: 'Sie ändert sich mit jeder Änderung dessen, was hier steht.',
    absent: 'Hier gibt es keine Datenschutzhinweise',
    absentWhy: 'Diesen Bot gibt es nicht, oder sein Team hat keine Hinweise veröffentlicht.',
  },
  dossier: DOSSIER_DE,
};
