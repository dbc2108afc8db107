/** What the page and the copy say about the bot's own stores. */
export const HOLDERS_EN = {
  why: (names: string) =>
    `The bot has stores of its own: ${names}. When you download a copy, the bot is asked what it has about you there, for each server about which this service has something of you too; ask the bot yourself about others. A copy that you download after its answer has it.`,
  unasked: 'The bot was not asked about its own stores: ask it.',
  told: (names: string) => `The bot is told to erase what it has about you in its own stores too: ${names}.`,
  later: (names: string) =>
    `The bot itself has to erase what it has about you in its own stores: ${names}. It is told to. When it has answered for all of them, it can get the final certificate: ask it for that one, with the number of the erasure.`,
  stated: (at: string) => `Stated by the bot on ${at}. This service has not checked it.`,
  nothing: (at: string) => `The bot has answered on ${at} that it has nothing about you there.`,
  asked: (at: string) =>
    `The bot was asked on ${at} and has not answered yet. Download a copy again later: it has the answer once there is one.`,
  overdue: (at: string) =>
    `The bot was asked on ${at} and has not answered within 14 days. You can complain to a supervisory authority.`,
  notAsked:
    'The bot was not asked for this server: a copy asks for at most 100 servers. Have the bot give you a link to this server alone.',
  earlier: (at: string) => `What the bot stated before, on ${at}. This service has not checked it.`,
  after: {
    title: 'After the erasure: the bot’s own stores',
    complete: 'The bot has answered for all of its own stores. This service has not checked the answers.',
    open: 'The bot was told to erase what it has about you in its own stores. This service has not checked its answers.',
    kept: (until: string) => `data is kept until ${until}. Reason given by the bot:`,
    answered: (at: string) => `(answered on ${at})`,
    result: {
      erased: 'erased',
      nothing: 'there was nothing about you',
      failed: 'the erasure has failed and is tried again',
      pending: 'not answered yet',
      overdue: 'not answered within 14 days. You can complain to a supervisory authority.',
      abandoned: 'removed by the bot before it answered. You can complain to a supervisory authority.',
    },
  },
};

export const HOLDERS_DE: typeof HOLDERS_EN = {
  why: (names) =>
    `Der Bot hat eigene Speicher: ${names}. Wenn du eine Kopie herunterlädst, wird der Bot gefragt, was er dort über dich hat, und zwar zu jedem Server, zu dem auch dieser Dienst etwas über dich gespeichert hat. Zu anderen Servern frag den Bot selbst. Eine Kopie, die du nach seiner Antwort herunterlädst, enthält sie.`,
  unasked: 'Nach seinen eigenen Speichern wurde der Bot nicht gefragt: Frag ihn selbst.',
  told: (names) =>
    `Der Bot wird beauftragt, auch das zu löschen, was er in eigenen Speichern über dich hat: ${names}.`,
  later: (names) =>
    `Was der Bot in eigenen Speichern über dich hat, muss er selbst löschen: ${names}. Er wird damit beauftragt. Wenn er für alle geantwortet hat, kann er die abschließende Bescheinigung abrufen: Frag ihn danach und nenne die Nummer der Löschung.`,
  stated: (at) => `Vom Bot angegeben am ${at}. Dieser Dienst hat die Angaben nicht geprüft.`,
  nothing: (at) => `Der Bot hat am ${at} geantwortet, dass er dort nichts über dich hat.`,
  asked: (at) =>
    `Der Bot wurde am ${at} gefragt und hat noch nicht geantwortet. Lade später noch einmal eine Kopie herunter: Sie enthält die Antwort, sobald es eine gibt.`,
  overdue: (at) =>
    `Der Bot wurde am ${at} gefragt und hat innerhalb von 14 Tagen nicht geantwortet. Du kannst dich bei einer Aufsichtsbehörde beschweren.`,
  notAsked:
    'Der Bot wurde zu diesem Server nicht gefragt: Eine Kopie fragt zu höchstens 100 Servern. Lass dir vom Bot einen Link nur zu diesem Server geben.',
  earlier: (at) => `Frühere Angaben des Bots vom ${at}. Dieser Dienst hat sie nicht geprüft.`,
  after: {
    title: 'Nach der Löschung: eigene Speicher des Bots',
    complete:
      'Der Bot hat für alle eigenen Speicher geantwortet. Dieser Dienst hat die Antworten nicht geprüft.',
    open: 'Der Bot wurde beauftragt, zu löschen, was er in eigenen Speichern über dich hat. Dieser Dienst hat seine Antworten nicht geprüft.',
    kept: (until) => `Daten werden bis zum ${until} aufbewahrt. Begründung des Bots:`,
    answered: (at) => `(geantwortet am ${at})`,
    result: {
      erased: 'gelöscht',
      nothing: 'es gab dort nichts über dich',
      failed: 'die Löschung ist gescheitert und wird wiederholt',
      pending: 'noch nicht beantwortet',
      overdue:
        'nicht innerhalb von 14 Tagen beantwortet. Du kannst dich bei einer Aufsichtsbehörde beschweren.',
      abandoned:
        'vom Bot entfernt, bevor geantwortet wurde. Du kannst dich bei einer Aufsichtsbehörde beschweren.',
    },
  },
};
