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
    copyId: 'Copy {id}',
    justNow: 'just now',
    suspendedSince:
      'The operator has suspended this bot since {time}. It can read, export, withdraw and erase, and nothing else.',
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
    copyId: '{id} kopieren',
    justNow: 'gerade eben',
    suspendedSince:
      'Der Betreiber hat diesen Bot seit {time} gesperrt. Er kann lesen, exportieren, widerrufen und löschen, sonst nichts.',
  },
} as const;
