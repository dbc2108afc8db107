import type { DOSSIER_EN } from './dossier.texts.en';

/** The same in German. */
export const DOSSIER_DE: typeof DOSSIER_EN = {
  title: 'Datenschutz-Dossier',
  lead: (time) =>
    `Für die Prüfung eines Bots durch seine Plattform, zum Beispiel von privilegierten Intents. Erstellt am ${time} aus den Angaben des Bots und der Konfiguration dieser Lethe-Installation. Es behandelt nur, was der Bot mit Lethe speichert.`,
  bot: 'Der Bot und sein Verantwortlicher',
  registered: 'Hier registriert',
  policy: 'Datenschutzerklärung',
  stored: 'Was gespeichert wird, wozu, auf welcher Rechtsgrundlage, wie lange',
  limits: 'Wie lange das Übrige aufbewahrt wird',
  backups: 'Sicherungen',
  backupsKept: (days) =>
    `Der Betreiber bewahrt Sicherungen ${days} auf (BACKUP_RETENTION_DAYS). So lange kann eine Sicherung enthalten, was gelöscht ist, Werte und IDs verschlüsselt.`,
  noBackups: 'Der Betreiber gibt an, keine Sicherungen aufzubewahren (BACKUP_RETENTION_DAYS ist 0).',
  backupFacts: [
    'Eine Sicherung aus der Zeit vor einer Löschung ist ohne die Schlüssel nicht lesbar, und der Schlüssel des gelöschten Nutzers ist vernichtet.',
    'Wird eine Sicherung von Daten und Schlüsseln zurückgespielt, wird darin nach einer Liste aller Löschungen erneut gelöscht, bevor der Dienst antwortet.',
    'Der Hauptschlüssel ist in keiner Sicherung, die Lethe anlegt.',
  ],
  encryption: 'Verschlüsselung',
  algorithm: 'Verfahren',
  custody: 'Verwahrung des Hauptschlüssels',
  master: {
    environment:
      'Der Betreiber übergibt ihn dem Prozess in der Umgebung (LETHE_MASTER_KEY). Er liegt nicht in der Datenbank.',
    file: 'In einer Schlüsseldatei neben den Daten, nicht in der Datenbank. Eine Kopie des ganzen Datenträgers enthält beides.',
    secret_file:
      'Der Betreiber übergibt ihn dem Prozess in einer eigenen Datei (LETHE_MASTER_KEY_FILE). Er liegt nicht in der Datenbank.',
    command:
      'Ein Programm des Betreibers übergibt ihn dem Prozess bei jedem Start (LETHE_MASTER_KEY_COMMAND), zum Beispiel aus einer Schlüsselverwaltung. Er liegt nicht in der Datenbank.',
  },
  encryptionFacts: [
    'Jeder Nutzer hat je Server einen eigenen Schlüssel. Er verschlüsselt die gespeicherten Werte und die Einzelheiten der Protokollereignisse.',
    'Diese Schlüssel und mit ihnen die IDs von Nutzer und Server sind mit dem Hauptschlüssel verschlüsselt. Was einen Schlüssel überdauert, zum Beispiel die IDs einer festgehaltenen Löschung, ist mit einem Schlüssel der Installation verschlüsselt.',
    'Nicht verschlüsselt sind: die Angaben des Bots; Kategorie, Stand und Zeit von Werten und Einwilligungen, mit Version, Sprache und Quelle einer Einwilligung; Kategorie, Art und Zeit von Widersprüchen und Einschränkungen; Art und Zeit von Protokollereignissen, Löschungen, Webhook-Aufrufen, Links und Fragen an die Speicher des Bots; Kategorien, Zeilenzahlen und Quelle einer Löschung; was die Speicher des Bots dazu geantwortet haben: Ergebnis, Anzahlen, Grund einer Aufbewahrung, signierte Erklärung; Anzahlen von Handlungen. Statt der IDs enthalten diese Zeilen Hashwerte, die mit einem geheimen Schlüssel gebildet sind.',
  ],
  access: 'Wer Zugriff hat',
  user: 'Jeder Nutzer, mit einem befristeten Link vom Bot',
  userReceives: 'nur, was über diesen Nutzer gespeichert ist',
  operator: 'Der Betreiber dieser Installation',
  operatorReceives:
    'Daten, Schlüssel und Hauptschlüssel, mit denen das Gespeicherte lesbar ist; keine Seite von Lethe zeigt dem Betreiber Werte',
  deletion: 'Löschung auf Verlangen',
  deletionFacts: [
    'Der Bot löscht einen Nutzer auf einem Server oder auf allen (POST /gdpr/forget-user), ebenso sein Team in der Konsole.',
    'Ein Nutzer mit einem Link zur Datenschutzseite löscht dort selbst, ohne Zutun des Teams, wenn der Bot es mit dem Link anbietet.',
    'Eine Löschung entfernt Werte und Einwilligungen und vernichtet den Schlüssel des Nutzers, sodass die Einzelheiten der Protokollereignisse unlesbar werden. Art und Zeit der Ereignisse bleiben, ebenso die Anfrage der Löschung mit ihren IDs, verschlüsselt. Eine signierte Bescheinigung hält ihr Ende fest.',
    'Gezählt wird je Nutzer und Server.',
    'Der Median ist in Stufen gezählt und um weniger als 10 % ungenau. Nur abgeschlossene Löschungen haben eine Dauer.',
  ],
  period: 'Zeitraum',
  periodOf: (from, to) => `${from} bis ${to}, Tage in UTC`,
  requested: 'Verlangte Löschungen',
  completed: 'Abgeschlossene Löschungen',
  failed: 'Fehlgeschlagene Löschungen',
  median: 'Median der Dauer vom Verlangen bis zum Ende',
  longest: 'Längste Dauer',
  noErasure: 'keine Löschung abgeschlossen',
  consent: 'Einwilligung',
  consentUnlessNamed:
    'Ein Wert wird nur angenommen, solange eine Einwilligung seines Nutzers in die Kategorie gilt, gleich auf welcher Rechtsgrundlage die Kategorie beruht. Ausgenommen sind die Kategorien, bei denen dieses Dossier sagt, warum sie keine Einwilligung brauchen.',
  consentFacts: [
    'Ein Wert wird nur angenommen, solange eine Einwilligung seines Nutzers in die Kategorie gilt, gleich auf welcher Rechtsgrundlage die Kategorie beruht.',
    'Jede Anfrage, Zustimmung und jeder Widerruf wird festgehalten, mit dem Hashwert des gezeigten Wortlauts, wenn der Bot ihn registriert oder Lethe ihn erstellt hat.',
    'Gezählt sind Handlungen, nicht Nutzer. Eine Ablehnung zählt nicht mit, ihre Anfrage schon. Eine Einschränkung zählt als Widerruf, ihr Ende als Zustimmung.',
  ],
  asked: 'Anfragen',
  accepted: 'Zustimmungen',
  revoked: 'Widerrufe, ganz oder für Kategorien',
  measures: 'Sicherheitsmaßnahmen',
  recipients: 'Hosting und weitere Empfänger nach Angabe des Bots',
  noRecipients: 'keine angegeben',
  toAdd: 'Was das Team ergänzt',
  toAddWhy: 'Das ist Lethe nicht bekannt:',
  additions: [
    'Jeder beantragte Intent, und wozu er gebraucht wird.',
    'Was der Bot außerhalb von Lethe speichert: eigene Datenbank, Logs, Zwischenspeicher.',
    'Wer im Team API-Schlüssel und Zugang zu den Servern hat, und wie dieser Zugang geschützt ist.',
    'TLS vor diesem Dienst, verschlüsselte Datenträger, und wie Software aktualisiert wird.',
    'Wie ein Nutzer das Team erreicht, wenn der Bot offline ist, und was nach einer Datenpanne geschieht.',
  ],
  policyGap:
    'Es gibt keine Datenschutzerklärung, auf die man verweisen kann: Die Datenschutzhinweise sind nicht veröffentlicht, und die Adresse einer eigenen Erklärung fehlt.',
};
