/** What the page and the copy say about the bot's own stores. */
export const HOLDERS_EN = {
  why: (names: string) =>
    `The bot has stores of its own: ${names}. When you download a copy, the bot is asked what it has about you there. Its answer is in the next copy.`,
  stated: (at: string) => `Stated by the bot on ${at}. This service has not checked it.`,
  nothing: (at: string) => `The bot has answered on ${at} that it has nothing about you there.`,
  asked: (at: string) =>
    `The bot was asked on ${at} and has not answered yet. Its answer will be in the next copy.`,
  overdue: (at: string) =>
    `The bot was asked on ${at} and has not answered within 14 days. You can complain to a supervisory authority.`,
  notAsked:
    'The bot was not asked for this server: a copy asks for at most 100 servers. Have the bot give you a link to this server alone.',
  earlier: (at: string) => `What the bot stated before, on ${at}. This service has not checked it.`,
};

export const HOLDERS_DE: typeof HOLDERS_EN = {
  why: (names) =>
    `Der Bot hat eigene Speicher: ${names}. Wenn du eine Kopie herunterlädst, wird der Bot gefragt, was er dort über dich hat. Seine Antwort ist in der nächsten Kopie enthalten.`,
  stated: (at) => `Vom Bot angegeben am ${at}. Dieser Dienst hat die Angaben nicht geprüft.`,
  nothing: (at) => `Der Bot hat am ${at} geantwortet, dass er dort nichts über dich hat.`,
  asked: (at) =>
    `Der Bot wurde am ${at} gefragt und hat noch nicht geantwortet. Seine Antwort wird in der nächsten Kopie enthalten sein.`,
  overdue: (at) =>
    `Der Bot wurde am ${at} gefragt und hat innerhalb von 14 Tagen nicht geantwortet. Du kannst dich bei einer Aufsichtsbehörde beschweren.`,
  notAsked:
    'Der Bot wurde zu diesem Server nicht gefragt: Eine Kopie fragt zu höchstens 100 Servern. Lass dir vom Bot einen Link nur zu diesem Server geben.',
  earlier: (at) => `Frühere Angaben des Bots vom ${at}. Dieser Dienst hat sie nicht geprüft.`,
};
