/** The words of the page after an erasure in English. */
export const LAST_EN = {
  place: 'Place',
  keepWhy:
    'It proves the erasure without saying who you are. With the salt, your id and the id under “Place”, it can be tied to you.',
  keepFile:
    'Only this page shows you the certificate and its salt. Download the file, which has both, before you leave the page.',
  noCertificate:
    'The certificate cannot be shown now. The bot can read it by the number of the erasure. Write down the number and the salt before you leave the page: only this page shows you the salt.',
};

/** The same in German. */
export const LAST_DE: typeof LAST_EN = {
  place: 'Ort',
  keepWhy:
    'Sie beweist die Löschung, ohne zu sagen, wer du bist. Mit dem Salt, deiner ID und der ID, die unter „Ort“ steht, lässt sie sich dir zuordnen.',
  keepFile:
    'Nur diese Seite zeigt dir die Bescheinigung und ihren Salt. Lade die Datei herunter, die beides enthält, bevor du die Seite verlässt.',
  noCertificate:
    'Die Bescheinigung kann gerade nicht gezeigt werden. Der Bot kann sie mit der Nummer der Löschung abrufen. Notiere dir die Nummer und den Salt, bevor du die Seite verlässt: Nur diese Seite zeigt dir den Salt.',
};
