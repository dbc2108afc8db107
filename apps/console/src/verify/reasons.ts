import type { Language } from './texts';

/** The reasons of the SDK in German, by the beginning of their English text. A test holds them complete. */
export const REASONS_DE: readonly (readonly [begin: string, german: string])[] = [
  [
    'this is not base64url in its only notation',
    'Ein Teil ist nicht in seiner einzigen Schreibweise (base64url).',
  ],
  ['this is not a compact JWS', 'Dies ist kein vollständiger signierter Text.'],
  ['this is not ', 'Dies wurde für einen anderen Zweck oder mit einem anderen Verfahren signiert.'],
  ['the signature does not fit', 'Die Signatur passt nicht: Der Inhalt oder die Signatur wurde verändert.'],
  ['the certificate lacks ', 'In der Bescheinigung fehlen Angaben.'],
  [
    'the certificate is not about this user',
    'Die Bescheinigung betrifft nicht diesen Nutzer, oder der Salt gehört nicht zu dieser Löschung.',
  ],
  ['the checkpoint is of another bot', 'Der signierte Stand gehört zu einem anderen Bot.'],
  ['the event is not in the batch', 'Das Ereignis ist nicht in dem Stapel, über den signiert wurde.'],
  [
    'the chain value of the checkpoint',
    'Der Kettenwert des signierten Stands passt nicht zu seinen Angaben.',
  ],
  ['user, guild or details of event ', 'Nutzer, Server oder Einzelheiten des Ereignisses wurden verändert.'],
  ['user must have value and salt', 'Dem Nutzer des Ereignisses fehlt der Wert oder der Salt.'],
  ['guild must have value and salt', 'Dem Server des Ereignisses fehlt der Wert oder der Salt.'],
  ['details must have value and salt', 'Den Einzelheiten des Ereignisses fehlt der Wert oder der Salt.'],
  [
    'the key ',
    'Der Schlüssel fehlt in den öffentlichen Schlüsseln, ist unlesbar oder war schon außer Gebrauch.',
  ],
];

/** A reason of the SDK in a language; in English where it has no German text. */
export function reasonIn(language: Language, reason: string): string {
  if (language === 'en') return reason;
  return REASONS_DE.find(([begin]) => reason.startsWith(begin))?.[1] ?? reason;
}
