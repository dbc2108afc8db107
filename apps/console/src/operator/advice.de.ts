/**
 * What is wrong and what to do, by the name of a condition or the id of a finding. In English the service says it, with
 * the names, numbers and times, which are shown with these.
 */
export const ADVICE_DE: Readonly<Record<string, { readonly says: string; readonly mend: string }>> = {
  rate_limit_local: {
    says: 'Redis antwortet nicht, darum zählt jeder Prozess die Anfragen für sich.',
    mend: 'Prüfen Sie, ob der Redis aus REDIS_URL läuft und von hier erreichbar ist. Danach wird von selbst wieder dort gezählt.',
  },
  disk_low: {
    says: 'Der Datenträger der Datenbank ist fast oder ganz voll.',
    mend: 'Schaffen Sie Platz oder nehmen Sie einen größeren. Löschungen gehen weiterhin.',
  },
  clock_step: {
    says: 'Die Uhr dieses Rechners wurde verstellt.',
    mend: 'Stellen Sie die Uhr mit einem NTP-Dienst. Was nach der neuen Zeit fällig ist, wird gelöscht, wenn die Abweichung eine Stunde gedauert hat.',
  },
  database_damaged: {
    says: 'Eine Seite der Datenbank ist beschädigt und kann nicht gelesen werden.',
    mend: 'Beenden Sie den Dienst, behalten Sie seine Dateien, prüfen Sie den Datenträger und spielen Sie eine Sicherung zurück.',
  },
  log_failing: {
    says: 'Zeilen des Logs können nicht geschrieben werden.',
    mend: 'Prüfen Sie, ob der Datenträger oder der Leser des Logs voll ist.',
  },
  key_file_missing: {
    says: 'Die Schlüsseldatei fehlt. Dieser Prozess hat die Schlüssel noch, der nächste Start hätte sie nicht.',
    mend: 'Legen Sie die Kopie der Schlüsseldatei vor dem nächsten Start zurück.',
  },
  clock_behind: {
    says: 'Das jüngste Ereignis des Protokolls liegt in der Zukunft.',
    mend: 'Stellen Sie die Uhr dieses Rechners, etwa mit einem NTP-Dienst: Die Aufbewahrung hängt von ihr ab.',
  },
  master_key_missing: {
    says: 'Hauptschlüssel fehlen: Ihre Texte können nicht entschlüsselt werden.',
    mend: 'Fügen Sie die genannten hinter dem jetzigen Schlüssel an: in LETHE_MASTER_KEY, seiner Datei oder der Ausgabe seines Befehls.',
  },
  master_key_unused: {
    says: 'Mindestens ein älterer Hauptschlüssel wird von keinem Text mehr gebraucht.',
    mend: 'Hat der Wechsel zu einem der genannten begonnen, führen Sie ihn fort: Setzen Sie ihn an die erste Stelle, starten Sie alle Prozesse neu und rufen Sie keys:rotate auf. Sonst entfernen Sie nur die genannten aus LETHE_MASTER_KEY, seiner Datei oder der Ausgabe seines Befehls und heben Sie sie anderswo so lange auf wie ältere Sicherungen.',
  },
  erasure_unfinished: {
    says: 'Eine Löschung ist noch nicht fertig. Sie wird wiederholt, bis sie es ist.',
    mend: 'Lesen Sie das Log: Eine Zeile nennt die Löschung und den Fehler. Die Jobs brauchen JOBS=on oder einen Worker.',
  },
  log_unsealed: {
    says: 'Ereignisse des Protokolls sind seit mehr als zehn Minuten nicht versiegelt.',
    mend: 'Prüfen Sie, ob der Dienst mit JOBS=on läuft oder ein Worker, und lesen Sie sein Log.',
  },
  webhooks_late: {
    says: 'Ein Webhook-Aufruf ist seit mehr als einer Stunde fällig.',
    mend: 'Prüfen Sie, ob der Dienst mit JOBS=on läuft oder ein Worker, und lesen Sie sein Log.',
  },
  webhooks_exhausted: {
    says: 'Webhook-Aufrufe wurden aufgegeben.',
    mend: 'Bitten Sie die Bots, ihre Empfänger in Ordnung zu bringen und die Aufrufe erneut zu senden.',
  },
  suspended_waiting: {
    says: 'Gesperrte Bots haben wartende Webhook-Aufrufe.',
    mend: 'Geben Sie die Bots frei oder löschen Sie sie: Löschungen, die Nutzer verlangt haben, werden ihnen nicht gemeldet.',
  },
  backup_missing: {
    says: 'Von den Daten oder von den Schlüsseln gibt es keine Sicherung der letzten 7 Tage.',
    mend: 'Rufen Sie jeden Tag backup --to ORDNER/$(date +%F) auf und ab und zu backup:drill --from ORDNER.',
  },
  backup_record_unreadable: {
    says: 'Die Aufzeichnung der Sicherungen kann nicht gelesen werden: Wann die letzte Sicherung war, ist nicht bekannt.',
    mend: 'Geben Sie die Datei dem Benutzer des Dienstes (chown) und rufen Sie Befehle als dieser Benutzer auf.',
  },
  drill_missing: {
    says: 'In den letzten 90 Tagen wurde keine Sicherung zur Probe zurückgespielt.',
    mend: 'Rufen Sie jeden Monat backup:drill --from ORDNER mit dem Ordner Ihrer Sicherungen auf.',
  },
  drill_failed: {
    says: 'Die letzte Probe konnte die Sicherung nicht benutzen.',
    mend: 'Machen Sie jetzt eine neue Sicherung und rufen Sie backup:drill --from ORDNER erneut auf: Es nennt den Fehler.',
  },
  key_beside_backup: {
    says: 'Eine Sicherung liegt im Ordner der Schlüsseldatei: Wer ihn hat, liest alles.',
    mend: 'Schreiben Sie Sicherungen auf einen anderen Rechner, ohne die Schlüsseldatei.',
  },
  backup_on_same_disk: {
    says: 'Die Sicherung liegt auf dem Datenträger der Datenbank: Beide gehen zusammen verloren.',
    mend: 'Kopieren Sie jede Sicherung auf einen anderen Rechner.',
  },
  key_file: {
    says: 'Der Hauptschlüssel liegt in einer Datei auf diesem Rechner.',
    mend: 'Bewahren Sie eine Kopie anderswo auf, getrennt von den Sicherungen; oder setzen Sie LETHE_MASTER_KEY und löschen Sie die Datei.',
  },
  key_file_readable: {
    says: 'Andere Benutzer dieses Rechners können die Datei mit dem Hauptschlüssel lesen.',
    mend: 'Setzen Sie ihre Rechte auf 600, die der Datei von LETHE_MASTER_KEY_FILE auf höchstens 640; benutzen andere den Rechner, wechseln Sie danach den Hauptschlüssel.',
  },
  env_readable: {
    says: 'Andere Benutzer dieses Rechners können .env lesen, wo Schlüssel stehen.',
    mend: 'chmod 600 .env; benutzen andere den Rechner, ändern Sie die Schlüssel darin.',
  },
  ledger_not_exported: {
    says: 'Das Löschbuch wurde in den letzten 7 Tagen nicht exportiert: Ohne es löscht eine zurückgespielte Sicherung nach dem Verlust der Schlüssel nicht erneut.',
    mend: 'Exportieren Sie es jeden Tag in eine neue Datei und bewahren Sie die Dateien getrennt von den Sicherungen auf.',
  },
  replaced_left: {
    says: 'Beim Zurückspielen einer Sicherung wurde aufbewahrt, was sie ersetzt hat: Diese Dateien enthalten noch Nutzer, die seither gelöscht wurden.',
    mend: 'Löschen Sie die genannten Dateien, wenn der Dienst mit den zurückgespielten Daten läuft.',
  },
  orphan_keys: {
    says: 'Mehr als 1.000 Schlüssel gehören zu keinem Nutzer, wie nach dem Zurückspielen älterer Daten. Sie bleiben so lange, wie eine Sicherung die neueren Daten haben kann, und keine Löschung erreicht sie.',
    mend: 'Waren die älteren Daten ein Versehen, spielen Sie bis dahin die neueren zurück. Sonst vernichtet Lethe die Schlüssel.',
  },
  retired_keys: {
    says: 'Neben der Datenbank liegen noch Hauptschlüssel aus der Zeit vor einem Wechsel, die ältere Sicherungen brauchen.',
    mend: 'Bewahren Sie eine Kopie anderswo auf, getrennt von den Sicherungen, und löschen Sie die Datei. Die Kopie löschen Sie zusammen mit der letzten Sicherung aus der Zeit vor dem Wechsel.',
  },
  disk_full: {
    says: 'Auf dem Datenträger der Datenbank ist fast nichts mehr frei.',
    mend: 'Schaffen Sie Platz oder nehmen Sie einen größeren: Auf einem vollen wird abgewiesen, was mehr speichert.',
  },
  node_old: {
    says: 'Diese Version von Node.js wird nicht mehr gepflegt.',
    mend: 'Installieren Sie die neueste Version mit langer Pflege.',
  },
  no_https: {
    says: 'Andere Rechner werden ohne HTTPS bedient, und kein Proxy ist genannt.',
    mend: 'Stellen Sie einen Proxy mit HTTPS davor und setzen Sie TRUST_PROXY auf die Zahl der Proxys; oder setzen Sie HOST=127.0.0.1.',
  },
  webhooks_http: {
    says: 'Webhooks dürfen über http gesendet werden, wo andere sie lesen können.',
    mend: 'Setzen Sie NODE_ENV=production oder WEBHOOK_REQUIRE_HTTPS=true.',
  },
  registration_open: {
    says: 'Jeder, der den Dienst erreicht, kann Bots registrieren.',
    mend: 'Setzen Sie REGISTRATION=token mit REGISTRATION_TOKEN, oder REGISTRATION=off, wenn Ihre Bots registriert sind.',
  },
  metrics_token_missing: {
    says: 'METRICS_TOKEN ist auf einer öffentlichen Adresse nicht gesetzt.',
    mend: 'Setzen Sie METRICS_TOKEN und geben Sie ihn Prometheus.',
  },
  wal_recycle: {
    says: 'PostgreSQL behält Dateien seines Logs (wal_recycle), und in ihnen vernichtete Schlüssel.',
    mend: 'Führen Sie als Superuser ALTER SYSTEM SET wal_recycle = off und SELECT pg_reload_conf() aus.',
  },
  development: {
    says: 'NODE_ENV ist nicht production: Webhooks über http und an diesen Rechner können erlaubt sein.',
    mend: 'Setzen Sie NODE_ENV=production, starten Sie neu und sehen Sie noch einmal hier nach.',
  },
  public_url_missing: {
    says: 'PUBLIC_URL ist nicht gesetzt: Links zu Datenschutzseiten führen auf diesen Rechner, und Formulare von Seiten unter einer anderen Adresse werden abgewiesen.',
    mend: 'Setzen Sie PUBLIC_URL auf die Adresse, unter der Nutzer den Proxy erreichen, zum Beispiel https://gdpr.example.org.',
  },
};
