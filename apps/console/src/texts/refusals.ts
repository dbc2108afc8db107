/** The texts of objections and restrictions on the page of a user. */
export const refusalTexts = {
  en: {
    refusals: 'Objections and restrictions in force',
    refusalAll: 'everything',
    refusalAllObjectable: 'everything that can be objected to',
    objectionMeans:
      'Stored values were erased, and your bot can store no new ones there. Only an erasure of the user ends the objection.',
    restrictionMeans:
      'Your bot can neither read nor change the values there. Export, erasure and correction by the user still work.',
    refusalSince: 'since {time}',
    refusalOpen: 'Objection or restriction',
    refusalLead: 'Record what the user has told you: it takes effect at once, in this server.',
    refusalWhat: 'What the user wants',
    refusalChoose: 'Please choose',
    restrictAct: 'Restrict (Art. 18 GDPR)',
    objectAct: 'Object (Art. 21 GDPR)',
    refusalRecord: 'Record',
    objectTitle: 'Record an objection in {server}: {what}?',
    objectNote:
      'Every value that is stored there is erased at once, and your bot can store no new ones. This cannot be undone: only an erasure of the user ends an objection.',
    restrictTitle: 'Record a restriction in {server}: {what}?',
    restrictNote:
      'Your bot can then neither read nor change the values there, until the user ends the restriction. Periods of retention still apply.',
    unrestrictAct: 'End restriction',
    unrestrictTitle: 'End the restriction in {server}: {what}?',
    unrestrictAllAct: 'End every restriction',
    unrestrictAllTitle: 'End every restriction in {server}?',
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
      'Gespeicherte Werte wurden gelöscht, und Ihr Bot kann dort keine neuen speichern. Nur eine Löschung der Person beendet den Widerspruch.',
    restrictionMeans:
      'Ihr Bot kann die Werte dort weder lesen noch ändern. Auskunft, Löschung und Berichtigung durch die Person bleiben möglich.',
    refusalSince: 'seit {time}',
    refusalOpen: 'Widerspruch oder Einschränkung',
    refusalLead: 'Vermerken Sie, was die Person Ihnen mitgeteilt hat: Es gilt sofort, auf diesem Server.',
    refusalWhat: 'Was die Person will',
    refusalChoose: 'Bitte wählen',
    restrictAct: 'Einschränken (Art. 18 DSGVO)',
    objectAct: 'Widersprechen (Art. 21 DSGVO)',
    refusalRecord: 'Vermerken',
    objectTitle: 'Einen Widerspruch auf dem Server „{server}“ vermerken: {what}?',
    objectNote:
      'Jeder dort gespeicherte Wert wird sofort gelöscht, und Ihr Bot kann keine neuen speichern. Das kann nicht rückgängig gemacht werden: Nur eine Löschung der Person beendet einen Widerspruch.',
    restrictTitle: 'Eine Einschränkung auf dem Server „{server}“ vermerken: {what}?',
    restrictNote:
      'Ihr Bot kann die Werte dort dann weder lesen noch ändern, bis die Person die Einschränkung aufhebt. Speicherfristen gelten weiter.',
    unrestrictAct: 'Einschränkung aufheben',
    unrestrictTitle: 'Die Einschränkung auf dem Server „{server}“ aufheben: {what}?',
    unrestrictAllAct: 'Alle Einschränkungen aufheben',
    unrestrictAllTitle: 'Alle Einschränkungen auf dem Server „{server}“ aufheben?',
    unrestrictNote:
      'Ihr Bot kann die Werte dann wieder lesen und ändern. Unterrichten Sie die Person vorher (Art. 18 Abs. 3 DSGVO).',
    objectDone: 'Der Widerspruch ist vermerkt.',
    restrictDone: 'Die Einschränkung ist vermerkt.',
    unrestrictDone: 'Die Einschränkung ist aufgehoben.',
  },
} as const;
