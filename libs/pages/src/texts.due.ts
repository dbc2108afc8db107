/** When stored values are erased, and why, in English. */
export const DUE_EN = {
  on: (at: string) => `on ${at}`,
  by: (at: string) => `by ${at} at the latest`,
  plain: (when: string) => `What is stored will be erased ${when}.`,
  withdrawn: (when: string) =>
    `What is stored will be erased ${when}, because you have withdrawn your consent.`,
  /** Of one category, which is named beside it. */
  uncovered: (when: string) =>
    `What is stored will be erased ${when}, because your consent no longer covers it.`,
  uncoveredIn: (when: string, names: string) =>
    `${names === '' ? 'A part of what is stored' : `What is stored in ${names}`} will be erased ${when}, because your consent no longer covers it.`,
};

/** The same in German. */
export const DUE_DE: typeof DUE_EN = {
  on: (at) => `am ${at}`,
  by: (at) => `spätestens am ${at}`,
  plain: (when) => `Die gespeicherten Daten werden ${when} gelöscht.`,
  withdrawn: (when) =>
    `Die gespeicherten Daten werden ${when} gelöscht, weil du deine Einwilligung widerrufen hast.`,
  uncovered: (when) =>
    `Die gespeicherten Daten werden ${when} gelöscht, weil deine Einwilligung sie nicht mehr umfasst.`,
  uncoveredIn: (when, names) =>
    names === ''
      ? `Ein Teil der gespeicherten Daten wird ${when} gelöscht, weil deine Einwilligung ihn nicht mehr umfasst.`
      : `Was unter ${names} gespeichert ist, wird ${when} gelöscht, weil deine Einwilligung es nicht mehr umfasst.`,
};
