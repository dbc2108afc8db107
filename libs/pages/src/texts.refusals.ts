/** The words of objections and restrictions in English. */
export const REFUSALS_EN = {
  title: 'Objection and restriction',
  open: 'Object or restrict …',
  all: 'everything',
  allObjectable: 'everything that you can object to',
  objected: (what: string, at: string) => `You have objected: ${what} (${at}).`,
  restricted: (what: string, at: string) => `Restricted since ${at}: ${what}.`,
  restrict: 'Restrict the processing (Art. 18 GDPR)',
  restrictWhy:
    'The bot can then no longer read for its purposes, or change, what is stored about you here. It can still make a copy for you. The restriction is in force until it is ended: by you, or by the team of the bot at your request. The data stays stored until its storage time or the time after a withdrawal ends, or until you erase it. You can still see and correct it.',
  restrictNow: 'Restrict',
  end: (what: string) => `End the restriction: ${what}`,
  endAll: 'End every restriction',
  object: 'Object to the processing (Art. 21 GDPR)',
  objectWhy:
    'What is stored about you here in the category is erased at once, and the bot can store nothing in it any more. It cannot be undone: an objection to a category ends when you erase everything or the bot removes the category; one to everything only when you erase everything. What the bot keeps elsewhere is not affected.',
  objectWhich:
    'You can object to categories whose legal basis is legitimate interests or a public task. Where the legal basis is your consent, you can withdraw it.',
  objectNow: 'Object and erase',
  objectNone:
    'You can object to nothing here: the bot names no legitimate interests and no public task as its legal basis. You can withdraw your consent and erase what is stored.',
  what: 'What it is about',
  choose: 'Please choose',
  note: {
    objected: 'Your objection is recorded. What it is about is erased.',
    restricted:
      'Your restriction is recorded. The bot can no longer read for its purposes, or change, what it is about.',
    unrestricted: 'The restriction has ended.',
    unrefused:
      'Nothing was recorded: this category does not exist any more, or you cannot object to it. Please open the page again.',
  },
  event: {
    objection: 'An objection was recorded',
    restriction: 'A restriction was recorded',
    restriction_ended: 'A restriction was ended',
  },
  kind: { objection: 'objection', restriction: 'restriction' },
};

/** The same in German. */
export const REFUSALS_DE: typeof REFUSALS_EN = {
  title: 'Widerspruch und Einschränkung',
  open: 'Widersprechen oder einschränken …',
  all: 'alles',
  allObjectable: 'alles, dem du widersprechen kannst',
  objected: (what, at) => `Du hast widersprochen: ${what} (${at}).`,
  restricted: (what, at) => `Eingeschränkt seit dem ${at}: ${what}.`,
  restrict: 'Verarbeitung einschränken (Art. 18 DSGVO)',
  restrictWhy:
    'Der Bot kann dann hier weder für seine Zwecke abrufen noch ändern, was über dich gespeichert ist. Eine Kopie für dich kann er weiter erstellen. Die Einschränkung gilt, bis sie aufgehoben wird: von dir, oder vom Team des Bots auf deinen Wunsch. Die Daten bleiben gespeichert, bis ihre Speicherdauer oder die Frist nach einem Widerruf endet oder du sie löschst. Du kannst sie weiter ansehen und berichtigen.',
  restrictNow: 'Einschränken',
  end: (what) => `Einschränkung aufheben: ${what}`,
  endAll: 'Alle Einschränkungen aufheben',
  object: 'Der Verarbeitung widersprechen (Art. 21 DSGVO)',
  objectWhy:
    'Was hier in der Kategorie über dich gespeichert ist, wird sofort gelöscht, und der Bot kann darin nichts mehr speichern. Das lässt sich nicht rückgängig machen: Ein Widerspruch gegen eine Kategorie endet, wenn du alles löschst oder der Bot die Kategorie entfernt; einer gegen alles nur, wenn du alles löschst. Was der Bot anderswo speichert, bleibt.',
  objectWhich:
    'Der Verarbeitung kannst du in Kategorien widersprechen, deren Rechtsgrundlage berechtigte Interessen oder eine öffentliche Aufgabe ist. Ist deine Einwilligung die Rechtsgrundlage, kannst du sie widerrufen.',
  objectNow: 'Widersprechen und löschen',
  objectNone:
    'Du kannst hier keiner Verarbeitung widersprechen: Der Bot nennt als Rechtsgrundlage weder berechtigte Interessen noch eine öffentliche Aufgabe. Du kannst deine Einwilligung widerrufen und löschen, was gespeichert ist.',
  what: 'Worum es geht',
  choose: 'Bitte wählen',
  note: {
    objected: 'Dein Widerspruch ist vermerkt. Was er betrifft, ist gelöscht.',
    restricted:
      'Deine Einschränkung ist vermerkt. Der Bot kann weder für seine Zwecke abrufen noch ändern, was sie betrifft.',
    unrestricted: 'Die Einschränkung ist aufgehoben.',
    unrefused:
      'Es wurde nichts vermerkt: Diese Kategorie gibt es nicht mehr, oder du kannst der Verarbeitung darin nicht widersprechen. Bitte öffne die Seite neu.',
  },
  event: {
    objection: 'Ein Widerspruch wurde vermerkt',
    restriction: 'Eine Einschränkung wurde vermerkt',
    restriction_ended: 'Eine Einschränkung wurde aufgehoben',
  },
  kind: { objection: 'Widerspruch', restriction: 'Einschränkung' },
};
