/** The types of events in German, for the console and for the page `/verify`. */
export const EVENTS_DE = {
  consent_requested: 'Einwilligung angefragt',
  consent_accepted: 'Einwilligung erteilt',
  consent_revoked: 'Einwilligung widerrufen',
  data_submitted: 'Daten gespeichert',
  data_exported: 'Daten exportiert',
  data_deleted: 'Daten gelöscht',
  deletion_requested: 'Löschung angefordert',
  deletion_completed: 'Löschung abgeschlossen',
  deletion_failed: 'Löschung fehlgeschlagen',
} as const;
