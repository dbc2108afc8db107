import type { RecordTexts } from './processing-record.texts.en';

export const DE: RecordTexts = {
  subjects:
    'Nutzer der Plattform, mit denen der Bot zu tun hat, auf den Servern, die ihn einsetzen, und in Direktnachrichten.',
  transfers:
    'Diesem Dienst nicht bekannt: Es hängt vom Ort dieser Installation und des Webhook-Empfängers ab. Deren Betreiber müssen es ergänzen.',
  withdrawn: 'Daten, die auf einer Einwilligung beruhten, nach deren Widerruf',
  evidence: 'Nachweise von Einwilligungen und Löschungen, nach deren Ende, und Ereignisse des Protokolls',
  webhooks: 'Aufzeichnungen von Webhook-Aufrufen, nach deren Ende',
  bot: 'Der Bot, mit seinem API-Schlüssel',
  botReceives: 'Alles, was über seine Nutzer gespeichert ist, auf Anfrage',
  receiver: 'Der Webhook-Empfänger des Bots',
  receiverReceives:
    'IDs der Nutzer und Server, deren Einwilligung widerrufen wurde oder deren Daten gelöscht wurden, Versionen und Zeiten',
  measures: {
    access:
      'Zugriff nur mit API-Schlüssel; von Schlüsseln sind nur SHA-256-Hashwerte gespeichert. Ein Bot erreicht nur seine eigenen Daten.',
    values:
      'Gespeicherte Werte und die Einzelheiten der Protokollereignisse sind mit ChaCha20-Poly1305 verschlüsselt, mit einem eigenen Schlüssel je Nutzer und Server.',
    masterKey:
      'Diese Schlüssel und die Webhook-Geheimnisse sind mit einem Hauptschlüssel verschlüsselt, der nicht in der Datenbank liegt.',
    erasure:
      'Eine Löschung vernichtet den Schlüssel des Nutzers; von den IDs bleiben nur mit einem geheimen Schlüssel gebildete Hashwerte.',
    consent:
      'Neue Daten werden nur angenommen, wenn eine Einwilligung gilt; das prüft die speichernde Transaktion.',
    audit:
      'Jede Handlung an personenbezogenen Daten steht in einem Protokoll, in der Transaktion der Handlung.',
    sealing:
      'Das Protokoll wird in signierten Abschnitten versiegelt: Was später geändert oder entfernt wird, fällt auf.',
    overwritten: 'Gelöschte Zeilen werden in der Datenbankdatei überschrieben; deren Journal wird gekürzt.',
    signed: 'Webhook-Aufrufe sind mit HMAC-SHA-256 signiert.',
    signedOverHttps: 'Webhook-Aufrufe sind mit HMAC-SHA-256 signiert und gehen nur über HTTPS.',
    networks: 'Webhook-Aufrufe werden von privaten Netzen und Metadaten-Diensten ferngehalten.',
    limits: 'Anfragen sind je Bot und je Client-Adresse begrenzt.',
    logs: 'Logs, Messwerte und Fehlermeldungen enthalten keine Nutzer-IDs, Werte, Schlüssel oder Geheimnisse.',
    durable:
      'Was beantwortet ist, ist dauerhaft gespeichert; unterbrochene Löschungen werden beim nächsten Start beendet.',
  },
  document: {
    title: 'Verzeichnis von Verarbeitungstätigkeiten',
    basis: (time) =>
      `Art. 30 Abs. 1 DSGVO; erstellt ${time} aus den Angaben des Bots und der Konfiguration dieses Dienstes.`,
    controller: 'Verantwortlicher',
    name: 'Name',
    contact: 'Kontakt',
    notGiven: 'nicht angegeben',
    bot: 'Bot',
    platformId: 'Plattform-ID',
    subjects: 'Betroffene Personen',
    recipients: 'Empfänger',
    transfers: 'Übermittlungen in Drittländer',
    limits: 'Löschfristen',
    noLimit: 'ohne zeitliche Grenze',
    days: (days) => (days === 1 ? '1 Tag' : `${days} Tage`),
    ofCategories: 'Datenkategorien: siehe unten',
    measures: 'Technische und organisatorische Maßnahmen',
    activities: 'Verarbeitungstätigkeiten nach Kategorien personenbezogener Daten',
    noActivity: 'Es ist keine Datenkategorie angegeben.',
    key: 'Schlüssel',
    purpose: 'Zweck',
    notDeclared: 'nicht angegeben',
    legalBasis: 'Rechtsgrundlage',
    erased: 'Gelöscht',
    noPeriod: 'keine Frist angegeben',
    afterUpdate: (days) => `${days} ${days === 1 ? 'Tag' : 'Tage'} nach der letzten Änderung`,
    columns: ['Feld', 'Typ', 'Englisch', 'Deutsch', 'Beschreibung'],
    anyValues: 'Beliebige Werte; es sind keine Felder angegeben.',
  },
};
