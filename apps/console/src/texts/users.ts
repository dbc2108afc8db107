/** The texts of the page of users. */
export const users = {
  en: {
    eraseAsking: 'The erasure is being requested …',
    eraseDone: 'Erased: {what}. It took {ms} ms.',
    eraseFailed:
      'The erasure {id} has not ended yet, or has failed: the service repeats it. Look again later.',
    eraseNothing: 'nothing was stored',
  },
  de: {
    eraseAsking: 'Die Löschung wird angefordert …',
    eraseDone: 'Gelöscht: {what}. Es dauerte {ms} ms.',
    eraseFailed:
      'Die Löschung {id} ist noch nicht beendet oder fehlgeschlagen: Der Dienst wiederholt sie. Sehen Sie später noch einmal nach.',
    eraseNothing: 'es war nichts gespeichert',
  },
} as const;
