import type { Language } from './texts';

/** The reasons of the SDK in German, by the beginning of their English text. A test holds them complete. */
export const REASONS_DE: readonly (readonly [begin: string, german: string])[] = [
  [
    'this is not base64url in its only notation',
    'Ein Teil ist nicht in seiner einzigen Schreibweise (base64url).',
  ],
  ['this is not a compact JWS', 'Dies ist kein vollständiger signierter Text.'],
  ['this is not a line of an audit export', 'Dies ist keine Zeile eines exportierten Audit-Logs.'],
  ['this is not ', 'Dies wurde für einen anderen Zweck oder mit einem anderen Verfahren signiert.'],
  ['the signature does not fit', 'Die Signatur passt nicht: Der Inhalt oder die Signatur wurde verändert.'],
  ['the certificate lacks ', 'In der Bescheinigung fehlen Angaben.'],
  [
    'the certificate is not about this user',
    'Die Bescheinigung betrifft nicht diesen Nutzer, oder der Salt gehört nicht zu dieser Löschung.',
  ],
  ['the version of the final certificate', 'Diese Fassung der Abschlussbescheinigung ist nicht bekannt.'],
  ['the final certificate lacks ', 'In der Abschlussbescheinigung fehlen Angaben.'],
  ['the certificate inside is of another bot', 'Die innere Bescheinigung gehört zu einem anderen Bot.'],
  [
    'the certificate inside is of another erasure',
    'Die innere Bescheinigung gehört zu einer anderen Löschung.',
  ],
  [
    'the holders are not in their order',
    'Die Speicherorte stehen nicht in ihrer Reihenfolge, oder einer steht doppelt da.',
  ],
  ['the time of completion is not', 'Der Zeitpunkt des Abschlusses ist nicht der der letzten Antwort.'],
  ['an answer is incomplete', 'In der Antwort eines Speicherorts fehlen Angaben.'],
  ['a statement is missing', 'Die Erklärung eines Speicherorts fehlt, obwohl er einen Schlüssel hat.'],
  ['a statement has no key', 'Zu der Erklärung eines Speicherorts fehlt sein Schlüssel.'],
  [
    'a statement is of another form',
    'Die Erklärung eines Speicherorts hat nicht die Form, die sie haben muss.',
  ],
  [
    'a statement is not signed by the key',
    'Die Erklärung eines Speicherorts ist nicht mit seinem Schlüssel signiert.',
  ],
  [
    'a statement is of another bot',
    'Die Erklärung eines Speicherorts gehört zu einem anderen Bot, Speicherort oder Löschvorgang.',
  ],
  [
    'a statement says something else',
    'Die Erklärung eines Speicherorts sagt etwas anderes als seine Antwort.',
  ],
  ['the checkpoint is of another bot', 'Der signierte Stand gehört zu einem anderen Bot.'],
  ['the event lacks ', 'Im Ereignis fehlen Angaben, oder sie haben eine andere Form.'],
  ['the event is not in the batch', 'Das Ereignis ist nicht in dem Stapel, über den signiert wurde.'],
  [
    'the chain value of the checkpoint',
    'Der Kettenwert des signierten Stands passt nicht zu seinen Angaben.',
  ],
  ['user, guild or details of event ', 'Nutzer, Server oder Einzelheiten des Ereignisses wurden verändert.'],
  ['user must have value and salt', 'Dem Nutzer des Ereignisses fehlt der Wert oder der Salt.'],
  ['guild must have value and salt', 'Dem Server des Ereignisses fehlt der Wert oder der Salt.'],
  ['details must have value and salt', 'Den Einzelheiten des Ereignisses fehlt der Wert oder der Salt.'],
  ['something follows the end of the export', 'Nach dem Ende des Exports steht noch etwas.'],
  ['an export has one first line', 'Dem Export fehlt seine erste Zeile, oder sie kommt zweimal vor.'],
  ['the export lacks the beginning', 'Dem Export fehlt der Anfang des Logs.'],
  ['the export was cut', 'Der Export ist unvollständig: Seine letzte Zeile fehlt.'],
  ['the export is not the one that was signed', 'Der Export ist nicht der signierte: Es fehlen Zeilen.'],
  ['the checkpoint that was kept', 'Der aufbewahrte signierte Stand gehört zu einem anderen Bot.'],
  ['the checkpoints that were kept', 'Die aufbewahrten signierten Stände gehören zu mehreren Bots.'],
  ['what was pruned', 'Was nach Ablauf der Frist entfernt wurde, führt nicht zu diesem Log.'],
  ['the batch is of another bot', 'Der Stapel gehört zu einem anderen Bot.'],
  ['the batch before ', 'Ein Stapel davor fehlt.'],
  ['the batch does not follow', 'Der Stapel folgt nicht auf den Stapel davor.'],
  ['the batch has ', 'Die Zahl der Ereignisse in einem Stapel stimmt nicht.'],
  ['the events of the batch', 'Die Ereignisse eines Stapels stehen nicht in ihrer Reihenfolge.'],
  ['an event of the batch', 'Ein Ereignis eines Stapels wurde verändert, vertauscht oder verschoben.'],
  ['events follow the last batch', 'Nach dem letzten Stapel stehen noch Ereignisse.'],
  ['batch ', 'Ein aufbewahrter signierter Stand passt nicht zu diesem Log, oder sein Stapel fehlt.'],
  [
    'the key ',
    'Der Schlüssel fehlt in den öffentlichen Schlüsseln, ist unlesbar oder war schon außer Gebrauch.',
  ],
];

/** A reason of the SDK in a language, with the line of an export; in English where it has no German text. */
export function reasonIn(language: Language, reason: string): string {
  if (language === 'en') return reason;
  const [, line, text = reason] = /^line (\d+): (.*)$/s.exec(reason) ?? [];
  const german = REASONS_DE.find(([begin]) => text.startsWith(begin))?.[1];
  if (german === undefined) return reason;
  return line === undefined ? german : `Zeile ${line}: ${german}`;
}
