/** The texts of objections and restrictions on the page of a user. */
export const refusalTexts = {
  en: {
    refusals: 'Objections and restrictions in force',
    refusalAll: 'everything',
    refusalAllObjectable: 'everything that can be objected to',
    objectionMeans:
      'Stored values were erased, and your bot can store no new ones there. Only an erasure of the user or the removal of the category ends the objection.',
    objectionAllMeans:
      'Stored values were erased, and your bot can store no new ones there. Only an erasure of the user ends the objection.',
    restrictionMeans:
      'Your bot can neither read the values there for its purposes nor change them. An export for the user, an erasure and a correction by the user still work.',
    refusalSince: 'since {time}',
    refusalOpen: 'Objection or restriction',
    refusalLead: 'Record what the user has told you: it takes effect here at once.',
    refusalWhat: 'What the user wants',
    refusalChoose: 'Please choose',
    restrictAct: 'Restrict (Art. 18 GDPR)',
    objectAct: 'Object (Art. 21 GDPR)',
    refusalRecord: 'Record',
    objectTitle: 'Record an objection {where}: {what}?',
    objectNote:
      'Every value that is stored there is erased at once, and your bot can store no new ones. This cannot be undone: only an erasure of the user or the removal of the category ends the objection.',
    objectAllNote:
      'Every value that is stored there is erased at once, and your bot can store no new ones. This cannot be undone: only an erasure of the user ends the objection.',
    restrictTitle: 'Record a restriction {where}: {what}?',
    restrictNote:
      'Your bot can then neither read the values there for its purposes nor change them, until the user ends the restriction, or you do at the request of the user. Periods of retention still apply.',
    unrestrictAct: 'End restriction',
    unrestrictTitle: 'End the restriction {where}: {what}?',
    unrestrictAllAct: 'End every restriction',
    unrestrictAllTitle: 'End every restriction {where}?',
    unrestrictNote:
      'Your bot can then read and change the values again. Inform the user before (Art. 18(3) GDPR).',
    objectDone: 'The objection is recorded.',
    restrictDone: 'The restriction is recorded.',
    unrestrictDone: 'The restriction has ended.',
  },
  de: {
    refusals: 'Geltende Widersprüche und Einschränkungen',
    refusalAll: 'alles',
    refusalAllObjectable: 'alles, dem widersprochen werden kann',
    objectionMeans:
      'Gespeicherte Werte wurden gelöscht, und Ihr Bot kann dort keine neuen speichern. Der Widerspruch endet nur, wenn die Daten der Person gelöscht werden oder die Kategorie entfernt wird.',
    objectionAllMeans:
      'Gespeicherte Werte wurden gelöscht, und Ihr Bot kann dort keine neuen speichern. Der Widerspruch endet nur, wenn die Daten der Person gelöscht werden.',
    restrictionMeans:
      'Ihr Bot kann die Werte dort weder für seine Zwecke abrufen noch ändern. Ein Export für die Person, eine Löschung und eine Berichtigung durch die Person bleiben möglich.',
    refusalSince: 'seit {time}',
    refusalOpen: 'Widerspruch oder Einschränkung',
    refusalLead: 'Vermerken Sie, was die Person Ihnen mitgeteilt hat: Es gilt hier sofort.',
    refusalWhat: 'Was die Person will',
    refusalChoose: 'Bitte wählen',
    restrictAct: 'Einschränken (Art. 18 DSGVO)',
    objectAct: 'Widersprechen (Art. 21 DSGVO)',
    refusalRecord: 'Vermerken',
    objectTitle: 'Einen Widerspruch {where} vermerken: {what}?',
    objectNote:
      'Jeder dort gespeicherte Wert wird sofort gelöscht, und Ihr Bot kann keine neuen speichern. Das kann nicht rückgängig gemacht werden: Der Widerspruch endet nur, wenn die Daten der Person gelöscht werden oder die Kategorie entfernt wird.',
    objectAllNote:
      'Jeder dort gespeicherte Wert wird sofort gelöscht, und Ihr Bot kann keine neuen speichern. Das kann nicht rückgängig gemacht werden: Der Widerspruch endet nur, wenn die Daten der Person gelöscht werden.',
    restrictTitle: 'Eine Einschränkung {where} vermerken: {what}?',
    restrictNote:
      'Ihr Bot kann die Werte dort dann weder für seine Zwecke abrufen noch ändern, bis die Person die Einschränkung aufhebt oder Sie es auf ihren Wunsch tun. Speicherfristen gelten weiter.',
    unrestrictAct: 'Einschränkung aufheben',
    unrestrictTitle: 'Die Einschränkung {where} aufheben: {what}?',
    unrestrictAllAct: 'Alle Einschränkungen aufheben',
    unrestrictAllTitle: 'Alle Einschränkungen {where} aufheben?',
    unrestrictNote:
      'Ihr Bot kann die Werte dann wieder abrufen und ändern. Unterrichten Sie die Person vorher (Art. 18 Abs. 3 DSGVO).',
    objectDone: 'Der Widerspruch ist vermerkt.',
    restrictDone: 'Die Einschränkung ist vermerkt.',
    unrestrictDone: 'Die Einschränkung ist aufgehoben.',
  },
} as const;
