/** What the bot's own stores have answered to an erasure. */
export const coverageTexts = {
  en: {
    coverage: 'Stores of the bot after the erasure',
    coverageComplete: 'Every store of your bot has answered. The final certificate can be read.',
    coverageOpen:
      'The stores of your bot have their own tasks. The final certificate is there once each has answered erased, nothing or kept.',
    coverageTold: 'told',
    coverageUntil: 'until {time}',
  },
  de: {
    coverage: 'Speicherorte des Bots nach der Löschung',
    coverageComplete:
      'Jeder Speicherort Ihres Bots hat geantwortet. Die abschließende Bescheinigung liegt vor.',
    coverageOpen:
      'Die Speicherorte Ihres Bots haben eigene Aufträge. Die abschließende Bescheinigung gibt es, wenn jeder geantwortet hat: gelöscht, nichts vorhanden oder aufbewahrt.',
    coverageTold: 'beauftragt',
    coverageUntil: 'bis {time}',
  },
};
