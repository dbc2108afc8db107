/** The texts of the page of keys. */
export const keyTexts = {
  en: {
    keysLead: 'Give each program and each person a key of their own that can do what they do. At most five.',
    keyName: 'Name',
    keyNameHint: 'The program or the person, for example "Worker". Up to 60 characters.',
    keyUnnamed: 'no name',
    thisSession: 'this session',
    scope_read: 'read: see users, values, logs',
    scope_write: 'write: ask for consent, store values',
    scope_erase: 'erase: users, values, servers',
    scope_admin: 'manage: settings, keys, webhooks',
    expiryField: 'Valid for',
    expiryNever: 'without an end',
    expiryDays: '{days} days',
    replaceTitle: 'Replace the key of a program',
    replaceStep1: 'Make a new key above, with the name of the program and the same scopes.',
    replaceStep2: 'Put it into the program, and start the program anew.',
    replaceStep3:
      'Wait until the new key has a last use here, and the old one has no newer one (exact to two minutes).',
    replaceStep4: 'Delete the old key. From then on it is refused.',
    secretTitle: 'Replace the webhook secret',
    secretStep1: 'Make the new secret. For a day each call is signed with both, so that no call is lost.',
    secretStep2: 'Let the receiver take the new secret beside the old one, and start it anew.',
    secretStep3: 'Send a test call in Settings, and see that it is confirmed.',
    secretStep4:
      'When the time is over, calls are signed with the new secret alone: remove the old one from the receiver.',
    secretUntil: 'Both secrets sign until {time}. From then on only the new one does.',
    deleteOwnKey:
      'Delete the key of this session? You are signed out, and every program that uses it is refused at once.',
  },
  de: {
    keysLead:
      'Geben Sie jedem Programm und jeder Person im Team einen eigenen Schlüssel, der kann, was sie tun. Höchstens fünf.',
    keyName: 'Name',
    keyNameHint: 'Das Programm oder die Person, zum Beispiel „Worker“. Bis zu 60 Zeichen.',
    keyUnnamed: 'ohne Namen',
    thisSession: 'diese Sitzung',
    scope_read: 'lesen: Personen, Werte, Protokolle sehen',
    scope_write: 'schreiben: um Einwilligung bitten, Werte speichern',
    scope_erase: 'löschen: Daten von Personen, Werte, Server',
    scope_admin: 'verwalten: Einstellungen, Schlüssel, Webhooks',
    expiryField: 'Gültigkeit',
    expiryNever: 'unbegrenzt',
    expiryDays: '{days} Tage',
    replaceTitle: 'Den Schlüssel eines Programms ersetzen',
    replaceStep1:
      'Erstellen Sie oben einen neuen Schlüssel, mit dem Namen des Programms und denselben Rechten.',
    replaceStep2: 'Tragen Sie ihn im Programm ein und starten Sie es neu.',
    replaceStep3:
      'Warten Sie, bis hier der neue Schlüssel benutzt wurde und der alte nicht mehr (auf zwei Minuten genau).',
    replaceStep4: 'Löschen Sie den alten Schlüssel. Von da an wird er abgewiesen.',
    secretTitle: 'Das Webhook-Geheimnis ersetzen',
    secretStep1:
      'Erstellen Sie das neue Geheimnis. Einen Tag lang wird jeder Aufruf mit beiden signiert, damit keiner verloren geht.',
    secretStep2: 'Tragen Sie das neue Geheimnis beim Empfänger neben dem alten ein und starten Sie ihn neu.',
    secretStep3: 'Senden Sie unter Einstellungen einen Testaufruf und sehen Sie, dass er bestätigt wird.',
    secretStep4: 'Nach dieser Zeit signiert nur noch das neue: Entfernen Sie das alte beim Empfänger.',
    secretUntil: 'Beide Geheimnisse signieren bis {time}. Danach signiert nur noch das neue.',
    deleteOwnKey:
      'Den Schlüssel dieser Sitzung löschen? Sie werden abgemeldet, und jedes Programm, das ihn benutzt, wird sofort abgewiesen.',
  },
} as const;
