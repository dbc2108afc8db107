/** The texts about a place of a user: a server, or the direct messages. */
export const places = {
  en: {
    usersDirect: 'direct messages',
    inServer: 'in {server}',
    inDirect: 'in the direct messages',
    eraseDirectWhat: 'Values, consent and history of this user in the direct messages',
    eraseDirect: 'Erase in the direct messages',
    eraseDirectNote:
      'Values, consent and history of this user in the direct messages will be erased, and your bot is told to delete its copies. What is stored here for servers stays as it is; where there is none, your bot’s own stores erase all they have about the user. This cannot be undone.',
    linkDirect: 'only the direct messages',
  },
  de: {
    usersDirect: 'Direktnachrichten',
    inServer: 'auf dem Server „{server}“',
    inDirect: 'in den Direktnachrichten',
    eraseDirectWhat: 'Werte, Einwilligung und Verlauf dieser Person in den Direktnachrichten',
    eraseDirect: 'In den Direktnachrichten löschen',
    eraseDirectNote:
      'Werte, Einwilligung und Verlauf dieser Person in den Direktnachrichten werden gelöscht, und Ihr Bot wird aufgefordert, seine Kopien zu löschen. Was hier für Server gespeichert ist, bleibt, wie es ist; gibt es das nicht, löschen die eigenen Speicher Ihres Bots alles, was sie über die Person haben. Das kann nicht rückgängig gemacht werden.',
    linkDirect: 'nur die Direktnachrichten',
  },
} as const;
