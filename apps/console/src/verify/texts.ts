import { ACTS_EN, type AuditAct } from '@lethe/sdk/evidence/web';
import { EVENTS_DE } from '../event-words';
import type { Unclear } from './examine';

/** The languages of the page. */
export type Language = 'en' | 'de';

interface VerifyTexts {
  readonly title: string;
  readonly lead: string;
  readonly statement: string;
  readonly statementHint: string;
  readonly file: string;
  readonly keys: string;
  readonly keysHint: string;
  readonly keysAway: string;
  readonly subject: string;
  readonly subjectHint: string;
  readonly salt: string;
  readonly user: string;
  readonly guild: string;
  /** Of a file that has all but the id of the user. */
  readonly tied: string;
  readonly check: string;
  readonly holds: string;
  readonly fails: string;
  readonly unclear: string;
  readonly signed: string;
  readonly bot: string;
  /** Before names that the file has beside what was signed. */
  readonly unsigned: string;
  readonly home: string;
  readonly noCrypto: string;
  readonly none: string;
  readonly unclears: Readonly<Record<Unclear, string>>;
  /** Sentences about what holds; names in braces are replaced. */
  readonly certificate: string;
  readonly certificateNamed: string;
  readonly final: string;
  readonly receipt: string;
  /** Before the id of a server, and in place of both. */
  readonly onServer: string;
  readonly directly: string;
  readonly proof: string;
  readonly acts: Readonly<Record<AuditAct, string>>;
  /** Between acts one of which it was. */
  readonly or: string;
  /** Who wrote an event, and about whom: a user in a place, or one whom the proof does not name. */
  readonly events: Readonly<Record<'byBot' | 'byService' | 'about' | 'aboutUnnamed', string>>;
  /** Before the answers of the holders of a bot. */
  readonly answers: string;
  readonly holders: Readonly<Record<'erased' | 'nothing' | 'kept' | 'signed' | 'received', string>>;
  /** What the signatures of a final certificate prove. */
  readonly whoSaidWhat: string;
}

/** Every text of the page `/verify`. */
export const VERIFY_TEXTS: Readonly<Record<Language, VerifyTexts>> = {
  en: {
    title: 'Check a certificate, a receipt or a proof',
    lead: 'The check runs in this browser. What you paste or choose is not sent anywhere, and not kept.',
    statement: 'What is to be checked',
    statementHint:
      'The content of the downloaded file, the whole answer of the interface, or the signed text alone. You can also drop a file here.',
    file: 'Choose a file',
    keys: 'Public keys',
    keysHint:
      'Loaded from this installation. For another one, or for keys that you have kept, paste its /.well-known/lethe-keys.json.',
    keysAway: 'The keys of this installation could not be loaded. Paste them.',
    subject: 'Is the certificate about a certain user?',
    subjectHint:
      'Optional. The salt is shown after the erasure; in the answer of the interface it is certificate_salt.',
    salt: 'Salt',
    user: 'Id of the user',
    guild: 'Id of the server',
    tied: 'Optional. The file has the salt and the server; the id of the user is missing. It stays in this browser.',
    check: 'Check',
    holds: 'It holds.',
    fails: 'It does not hold:',
    unclear: 'It could not be checked:',
    signed: 'What was signed',
    bot: 'Bot',
    unsigned: 'Names from the file, which are not signed:',
    home: 'Start page',
    noCrypto:
      'This browser cannot verify Ed25519 signatures, or this page did not come over HTTPS. Use a newer browser and HTTPS, or the program lethe-verify.',
    none: 'nothing that is named',
    unclears: {
      not_known: 'this is neither a certificate, nor a receipt, nor a proof.',
      too_large: 'the text is larger than any certificate, receipt or proof.',
      bad_keys: 'the keys are not a key set as /.well-known/lethe-keys.json answers it.',
      named_in_part: 'a certificate is tied to a user by salt, user and server together.',
      unreadable: 'the text cannot be read as it is; a part is missing or has another form.',
    },
    certificate:
      'On {time} everything that the bot {bot} had stored in Lethe about one user in one place (a server, or the direct messages) was erased ({what}). Which user and which place shows with the salt and the ids.',
    certificateNamed:
      'On {time} everything that the bot {bot} had stored in Lethe about this user in this place was erased ({what}).',
    final:
      'On {time} everything that the bot {bot} had stored in Lethe about one user in one place (a server, or the direct messages) was erased ({what}), and every other store of the bot has answered since. Which user and which place shows with the salt and the ids.',
    receipt:
      'On {time} the user {user} agreed {place} that the bot {bot} stores: {what}. Whether the consent is still in force it does not say.',
    onServer: 'on the server',
    directly: 'in direct messages',
    proof:
      'The audit log of the bot {bot} contains this event, unchanged since {sealed}: on {time}, {author}, {what} ({subject}).',
    acts: ACTS_EN,
    or: ', or ',
    events: {
      byBot: 'as the bot itself wrote',
      byService: 'as Lethe wrote',
      about: 'the user {user} {place}',
      aboutUnnamed: 'a user whom the proof does not name',
    },
    answers: 'What the other stores of the bot have answered:',
    holders: {
      erased: '{name}: erased what it had about the user ({covers}).',
      nothing: '{name}: had nothing about the user ({covers}).',
      kept: '{name}: keeps data until {until}, because: {basis} ({covers}).',
      signed: 'It says so itself, signed by its own key, on {time}.',
      received: 'Lethe received this answer on {time}; the store has not signed it.',
    },
    whoSaidWhat:
      'The signature of this Lethe proves that it erased its own part and received these answers. That an answer is true, it cannot know.',
  },
  de: {
    title: 'Bescheinigung, Quittung oder Nachweis prüfen',
    lead: 'Die Prüfung läuft in diesem Browser. Was du einfügst oder auswählst, wird nirgendwohin gesendet und nicht aufbewahrt.',
    statement: 'Was geprüft werden soll',
    statementHint:
      'Der Inhalt der heruntergeladenen Datei, die ganze Antwort der Schnittstelle oder nur der signierte Text. Du kannst auch eine Datei hier ablegen.',
    file: 'Datei auswählen',
    keys: 'Öffentliche Schlüssel',
    keysHint:
      'Geladen von dieser Installation. Für eine andere, oder für aufbewahrte Schlüssel, füge deren /.well-known/lethe-keys.json ein.',
    keysAway: 'Die Schlüssel dieser Installation konnten nicht geladen werden. Füge sie ein.',
    subject: 'Geht es in der Bescheinigung um einen bestimmten Nutzer?',
    subjectHint:
      'Freiwillig. Der Salt wird nach der Löschung angezeigt; in der Antwort der Schnittstelle heißt er certificate_salt.',
    salt: 'Salt',
    user: 'ID des Nutzers',
    guild: 'ID des Servers',
    tied: 'Freiwillig. Salt und Server sind in der Datei; es fehlt die ID des Nutzers. Sie bleibt in diesem Browser.',
    check: 'Prüfen',
    holds: 'Es stimmt.',
    fails: 'Es stimmt nicht:',
    unclear: 'Es konnte nicht geprüft werden:',
    signed: 'Was signiert wurde',
    bot: 'Bot',
    unsigned: 'Namen aus der Datei, die nicht signiert sind:',
    home: 'Startseite',
    noCrypto:
      'Dieser Browser kann keine Ed25519-Signaturen prüfen, oder diese Seite kam nicht über HTTPS. Nutze einen neueren Browser und HTTPS, oder das Programm lethe-verify.',
    none: 'nichts, was benannt ist',
    unclears: {
      not_known: 'Dies ist weder eine Bescheinigung noch eine Quittung noch ein Nachweis.',
      too_large: 'Der Text ist größer als jede Bescheinigung, jede Quittung und jeder Nachweis.',
      bad_keys: 'Die Schlüssel haben nicht die Form, in der /.well-known/lethe-keys.json sie liefert.',
      named_in_part:
        'An einen Nutzer ist eine Bescheinigung nur durch Salt, Nutzer und Server zusammen gebunden.',
      unreadable: 'Der Text ist so nicht lesbar; ein Teil fehlt oder hat eine andere Form.',
    },
    certificate:
      'Am {time} wurde alles gelöscht, was der Bot {bot} in Lethe über einen Nutzer an einem Ort (einem Server oder den Direktnachrichten) gespeichert hatte ({what}). Um wen es geht und um welchen Ort, zeigt sich mit dem Salt und den IDs.',
    certificateNamed:
      'Am {time} wurde alles gelöscht, was der Bot {bot} in Lethe über diesen Nutzer an diesem Ort gespeichert hatte ({what}).',
    final:
      'Am {time} wurde alles gelöscht, was der Bot {bot} in Lethe über einen Nutzer an einem Ort (einem Server oder den Direktnachrichten) gespeichert hatte ({what}); seither hat jeder andere Speicherort des Bots geantwortet. Um wen es geht und um welchen Ort, zeigt sich mit dem Salt und den IDs.',
    receipt:
      'Am {time} hat der Nutzer {user} {place} zugestimmt, dass der Bot {bot} speichert: {what}. Ob die Einwilligung noch gilt, sagt sie nicht.',
    onServer: 'auf dem Server',
    directly: 'in Direktnachrichten',
    proof:
      'Das Audit-Log des Bots {bot} enthält dieses Ereignis, unverändert seit dem {sealed}: {what} ({subject}), am {time}, {author}.',
    acts: {
      ...EVENTS_DE,
      objection: 'Widerspruch gegen die Verarbeitung vermerkt',
      restriction: 'Einschränkung der Verarbeitung vermerkt',
      restriction_ended: 'Einschränkung der Verarbeitung aufgehoben',
    },
    or: ' oder ',
    events: {
      byBot: 'eingetragen vom Bot selbst',
      byService: 'eingetragen von Lethe',
      about: 'Nutzer {user} {place}',
      aboutUnnamed: 'ein Nutzer, den der Nachweis nicht nennt',
    },
    answers: 'Was die anderen Speicherorte des Bots geantwortet haben:',
    holders: {
      erased: '{name}: Daten über den Nutzer gelöscht ({covers}).',
      nothing: '{name}: keine Daten über den Nutzer vorhanden ({covers}).',
      kept: '{name}: Daten bis {until} aufbewahrt, Grund: {basis} ({covers}).',
      signed: 'Vom Speicherort selbst am {time} mit seinem eigenen Schlüssel signiert.',
      received: 'Diese Antwort hat Lethe am {time} erhalten; der Speicherort hat sie nicht signiert.',
    },
    whoSaidWhat:
      'Die Signatur dieses Lethe belegt, dass es seinen eigenen Teil gelöscht und diese Antworten erhalten hat. Ob eine Antwort wahr ist, kann es nicht wissen.',
  },
};
