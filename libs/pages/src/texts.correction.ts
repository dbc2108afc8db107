/** The words of a correction in English, and of the limits of acts. */
export const CORRECTION_EN = {
  title: (what: string) => `Correct: ${what}`,
  label: 'New value',
  save: 'Save the correction',
  long: 'This value is too long to be corrected here. Please ask the bot.',
  wrong: {
    string: 'Nothing was saved. Please write a text.',
    number:
      'Nothing was saved. Please write a number in digits, with a point before the decimals and nothing else, for example 12 or 12.5. It can have up to 15 digits.',
    boolean: 'Nothing was saved. Please choose yes or no.',
    date: 'Nothing was saved. Please write a day that exists as year-month-day, for example 2026-01-31.',
  },
  changed:
    'Nothing was saved: this value has changed since you opened the page. You see the new one here. If yours is right, save it once more.',
  large: 'Nothing was saved: with this value there would be too much in this category. Please shorten it.',
  now: 'Stored now',
  often: {
    title: 'Not again yet',
    again:
      'You have changed your mind about this request three times within 24 hours. Nothing was recorded. You can decide again 24 hours after the first time, or let the bot ask you.',
    unrestrict:
      'You have ended ten restrictions within 24 hours. Nothing was changed. You can go on 24 hours after the first of them, or ask the bot.',
    correct:
      'You have corrected twenty values within 24 hours. Nothing was saved. You can correct more 24 hours after the first of them, or ask the bot.',
  },
};

/** The same in German. */
export const CORRECTION_DE: typeof CORRECTION_EN = {
  title: (what) => `Berichtigen: ${what}`,
  label: 'Neuer Wert',
  save: 'Berichtigung speichern',
  long: 'Dieser Wert ist zu lang, um ihn hier zu berichtigen. Bitte wende dich an den Bot.',
  wrong: {
    string: 'Es wurde nichts gespeichert. Bitte schreibe einen Text.',
    number:
      'Es wurde nichts gespeichert. Bitte schreibe eine Zahl in Ziffern, mit einem Punkt statt eines Kommas und sonst nichts, zum Beispiel 12 oder 12.5. Sie kann bis zu 15 Ziffern haben.',
    boolean: 'Es wurde nichts gespeichert. Bitte wähle Ja oder Nein.',
    date: 'Es wurde nichts gespeichert. Bitte schreibe einen Tag, den es gibt, als Jahr-Monat-Tag, zum Beispiel 2026-01-31.',
  },
  changed:
    'Es wurde nichts gespeichert: Dieser Wert hat sich geändert, seit du die Seite geöffnet hast. Hier siehst du den neuen. Wenn deiner stimmt, speichere ihn noch einmal.',
  large: 'Es wurde nichts gespeichert: Mit diesem Wert würde diese Kategorie zu groß. Bitte kürze ihn.',
  now: 'Derzeit gespeichert',
  often: {
    title: 'Jetzt nicht noch einmal',
    again:
      'Du hast es dir bei dieser Anfrage innerhalb von 24 Stunden dreimal anders überlegt. Es wurde nichts vermerkt. 24 Stunden nach dem ersten Mal kannst du wieder entscheiden, oder du lässt dich vom Bot fragen.',
    unrestrict:
      'Du hast innerhalb von 24 Stunden zehn Einschränkungen aufgehoben. Es wurde nichts geändert. 24 Stunden nach der ersten kannst du weitermachen, oder du wendest dich an den Bot.',
    correct:
      'Du hast innerhalb von 24 Stunden zwanzig Werte berichtigt. Es wurde nichts gespeichert. 24 Stunden nach dem ersten kannst du weitere berichtigen, oder du wendest dich an den Bot.',
  },
};
