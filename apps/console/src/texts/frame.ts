/** The texts around every page. */
export const frame = {
  en: {
    menu: 'Menu',
    refresh: 'Refresh',
    refreshing: 'Refreshing …',
    scheme: 'Colours',
    schemeSystem: 'As the system',
    schemeLight: 'Light',
    schemeDark: 'Dark',
    typeToConfirm: 'Type “{text}” to confirm',
    notSignedOut: 'You are not signed out: the service did not answer. Try again.',
    sessionEndedHere: 'Your session has ended. Copy what you still need from this page, then sign in again.',
    signInAgain: 'Sign in again',
    notReloaded: 'This could not be loaded anew: what is shown may be old.',
    copyId: 'Copy {id}',
    justNow: 'just now',
    suspendedSince:
      'The operator suspended this bot on {time}. It can still read, export, erase, record withdrawals, objections and restrictions, make privacy links, and answer the tasks of its holders.',
    lacksScope: 'Your key lacks the scope {names}: what needs it is left out here.',
    lacksScopes: 'Your key lacks the scopes {names}: what needs them is left out here.',
  },
  de: {
    menu: 'Menü',
    refresh: 'Neu laden',
    refreshing: 'Wird geladen …',
    scheme: 'Farben',
    schemeSystem: 'Wie das System',
    schemeLight: 'Hell',
    schemeDark: 'Dunkel',
    typeToConfirm: 'Zum Bestätigen „{text}“ eingeben',
    notSignedOut: 'Sie sind noch angemeldet: Der Dienst hat nicht geantwortet. Versuchen Sie es noch einmal.',
    sessionEndedHere:
      'Ihre Sitzung ist beendet. Kopieren Sie, was Sie von dieser Seite noch brauchen, und melden Sie sich dann neu an.',
    signInAgain: 'Neu anmelden',
    notReloaded: 'Das Neuladen ist nicht gelungen: Was Sie sehen, kann veraltet sein.',
    copyId: '{id} kopieren',
    justNow: 'gerade eben',
    lacksScope: 'Ihrem Schlüssel fehlt das Recht {names}: Wofür es nötig ist, fehlt hier.',
    lacksScopes: 'Ihrem Schlüssel fehlen die Rechte {names}: Wofür sie nötig sind, fehlt hier.',
    suspendedSince:
      'Der Betreiber hat diesen Bot am {time} gesperrt. Er kann weiterhin lesen, exportieren, löschen, Widerrufe, Widersprüche und Einschränkungen vermerken, Links zur Datenschutzseite erstellen und Aufträge seiner Speicherorte beantworten.',
  },
} as const;
