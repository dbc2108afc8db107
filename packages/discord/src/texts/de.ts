import type { Texts } from './en';

export const DE: Texts = {
  command: 'Was dieser Bot über dich speichert, und deine Rechte',
  command_about: 'Was dieser Bot speichert, wozu und wie lange',
  command_consent: 'Entscheide, was dieser Bot über dich speichern darf',
  command_status: 'Was du entschieden hast',
  command_page: 'Deine Datenschutzseite: sieh, was gespeichert ist und was du damit tun kannst',
  command_export: 'Erhalte eine Kopie deiner Daten als Datei',
  command_revoke: 'Widerrufe deine Einwilligung',
  command_forget: 'Lass deine Daten löschen',
  command_object: 'Widersprich der Verarbeitung deiner Daten, oder schränke sie ein',
  option_where: 'Nur hier, oder überall, wo du den Bot nutzt',
  where_here: 'Hier',
  where_everywhere: 'Überall',

  about_title: 'Was {bot} über dich speichert',
  about_intro: 'Ohne deine Einwilligung wird nichts gespeichert. Du entscheidest mit `/privacy consent`.',
  about_intro_some:
    'Was deine Einwilligung braucht, wird nicht ohne sie gespeichert: Du entscheidest mit `/privacy consent`. Was keine braucht, ist unten begründet.',
  about_intro_none: 'Nichts davon braucht deine Einwilligung. Warum, steht jeweils dabei.',
  about_intro_own_stores:
    'Was deine Einwilligung braucht, wird mit diesem Dienst nicht ohne sie gespeichert: Du entscheidest mit `/privacy consent`.',
  about_nothing: 'Dieser Bot nennt keine Daten. Er speichert mit diesem Dienst nichts über dich.',
  about_fields: 'Daten: {fields}',
  about_basis: 'Rechtsgrundlage: {basis}',
  about_without_consent: 'Ohne Einwilligung gespeichert. Begründung des Bots: {reason}',
  about_kept_day: 'Speicherdauer: 1 Tag ab der letzten Änderung',
  about_kept_days: 'Speicherdauer: {days} Tage ab der letzten Änderung',
  about_kept: 'Gespeichert, bis du deine Einwilligung widerrufst oder die Löschung verlangst',
  about_kept_after_day: 'Gespeichert, bis du die Löschung verlangst oder bis einen Tag nach deinem Widerruf',
  about_kept_after: 'Gespeichert, bis du die Löschung verlangst oder bis {days} Tage nach deinem Widerruf',
  about_kept_without_consent: 'Gespeichert, bis du die Löschung verlangst',
  about_rights:
    'Deine Rechte: Auskunft mit `/privacy export`, Widerruf mit `/privacy revoke`, Löschung mit `/privacy forget`, Einschränkung mit `/privacy object`. Du kannst dich auch bei einer Datenschutzbehörde beschweren.',
  about_object_title: 'Dein Widerspruchsrecht (Art. 21 DSGVO)',
  about_object:
    'Mit `/privacy object` kannst du jederzeit der Verarbeitung dieser Daten widersprechen: {categories}. Die Daten werden dann gelöscht.',
  about_correct: 'Auf deiner Datenschutzseite (`/privacy page`) kannst du selbst berichtigen: {fields}.',
  about_responsible: 'Wer verantwortlich ist',
  about_controller: 'Verantwortlicher: {controller}',
  about_address: 'Anschrift: {address}',
  about_contact: 'Ansprechpartner für Datenschutz: {contact}',
  about_officer: 'Datenschutzbeauftragter: {officer}',
  about_authority: 'Aufsichtsbehörde: {authority}',
  about_policy: 'Datenschutzerklärung des Bots: {url}',
  about_recipients: 'Wer die Daten erhält',
  about_third_country: '{country}, außerhalb des Europäischen Wirtschaftsraums',
  about_safeguards: 'Garantien: {safeguards}',
  about_interests: 'Berechtigte Interessen',
  about_source: 'Woher die Daten stammen',
  about_automated: 'Automatisierte Entscheidungen',
  about_automated_none: 'Es gibt keine (Art. 22 DSGVO).',
  about_notice_open: 'Datenschutzhinweise lesen',
  basis_consent: 'deine Einwilligung (Art. 6 Abs. 1 lit. a DSGVO)',
  basis_contract: 'ein Vertrag (Art. 6 Abs. 1 lit. b DSGVO)',
  basis_legal_obligation: 'eine rechtliche Verpflichtung (Art. 6 Abs. 1 lit. c DSGVO)',
  basis_vital_interests: 'lebenswichtige Interessen (Art. 6 Abs. 1 lit. d DSGVO)',
  basis_public_task: 'eine öffentliche Aufgabe (Art. 6 Abs. 1 lit. e DSGVO)',
  basis_legitimate_interests: 'berechtigte Interessen (Art. 6 Abs. 1 lit. f DSGVO)',

  consent_choose: 'Wähle, was gespeichert werden darf',
  consent_chosen: 'Der Auswahl zustimmen ({count})',
  consent_agree: 'Ich stimme zu',
  consent_decline: 'Nein, danke',
  consent_details: 'Welche Daten das im Einzelnen sind: `/privacy about`',
  consent_read_on: 'Lies weiter, um zu entscheiden.',
  consent_changed:
    'Der Text hat sich geändert, seit er dir gezeigt wurde. Bitte lies ihn und entscheide neu.',
  consent_not_needed:
    'Dieser Bot bittet um keine Einwilligung. Was er über dich speichert und warum, sagt dir `/privacy about`.',
  consent_none: 'Dieser Bot bittet hier derzeit um keine Einwilligung.',
  consent_version: 'Version {version}',
  consent_notice: 'Datenschutzerklärung: {url}',
  consent_in_force: 'Du hast am {when} zugestimmt.',
  consent_done: 'Danke. Du hast zugestimmt:',
  consent_receipt:
    'Die angehängte Datei ist deine Quittung: Sie ist signiert und belegt, was du wann erlaubt hast.',
  consent_withdraw: 'Du kannst jederzeit mit `/privacy revoke` widerrufen.',
  consent_declined:
    'In Ordnung. Du hast nicht zugestimmt. Wenn du es dir anders überlegst: `/privacy consent`.',
  consent_declined_kept: 'Was du vorher erlaubt hast, gilt weiter. `/privacy revoke` widerruft es.',

  command_again: 'Gib deinen Befehl jetzt bitte noch einmal ein.',
  command_needs: 'Dein Befehl braucht etwas, dem du nicht zugestimmt hast: `/privacy consent`.',
  command_failed:
    'Deine Einwilligung ist gespeichert, aber danach ist dein Befehl fehlgeschlagen. Das wurde den Betreibern gemeldet. Bitte gib ihn später noch einmal ein.',
  command_objected:
    'Dein Befehl braucht Daten, deren Verarbeitung du widersprochen hast. Es wurde nichts gespeichert. `/privacy object` zeigt deine Widersprüche.',
  command_restricted:
    'Dein Befehl braucht Daten, deren Verarbeitung du eingeschränkt hast. Es wurde nichts geändert. Mit `/privacy object` hebst du eine Einschränkung auf.',

  status_title: 'Was du entschieden hast',
  status_declined: 'Du hast am {when} abgelehnt. Wenn du es dir anders überlegst: `/privacy consent`.',
  status_declined_newer:
    'Einen neueren Text hast du am {when} abgelehnt. Wenn du es dir anders überlegst: `/privacy consent`.',
  status_none:
    'Du hast keine Einwilligung gegeben, und keine Anfrage wartet auf deine Antwort. Hier ist nichts über dich gespeichert.',
  status_none_some:
    'Du hast keine Einwilligung gegeben, und keine Anfrage wartet auf deine Antwort. Was deine Einwilligung braucht, ist hier nicht über dich gespeichert.',
  status_none_own_stores: 'Du hast keine Einwilligung gegeben, und keine Anfrage wartet auf deine Antwort.',
  status_pending: 'Du hast noch nicht entschieden. Hier wird nichts Neues über dich gespeichert.',
  status_pending_some:
    'Du hast noch nicht entschieden. Was deine Einwilligung braucht, wird hier nicht neu über dich gespeichert.',
  status_pending_own_stores:
    'Du hast noch nicht entschieden. Was deine Einwilligung braucht, wird hier mit diesem Dienst nicht neu über dich gespeichert.',
  status_accepted: 'Du hast am {when} zugestimmt.',
  status_accepted_version: 'Du hast am {when} der Version {version} zugestimmt.',
  status_revoked:
    'Du hast deine Einwilligung am {when} widerrufen. Hier wird nichts Neues über dich gespeichert.',
  status_revoked_some:
    'Du hast deine Einwilligung am {when} widerrufen. Was sie braucht, wird hier nicht neu über dich gespeichert.',
  status_revoked_own_stores:
    'Du hast deine Einwilligung am {when} widerrufen. Was sie braucht, wird hier mit diesem Dienst nicht neu über dich gespeichert.',
  status_newer: 'Ein neuerer Text wartet auf deine Entscheidung: `/privacy consent`.',
  status_erased_at:
    'Was unter einer Einwilligung gespeichert ist, die nicht mehr gilt, wird am {when} gelöscht.',
  without_consent: 'Was dieser Bot ohne deine Einwilligung speichern darf, und seine Begründung:',
  own_stores: 'Was der Bot in eigenen Speichern über dich hat, wird hier nicht angezeigt.',
  state_accepted: 'erlaubt',
  state_revoked: 'widerrufen',
  state_pending: 'nicht entschieden',
  state_none: 'nicht erlaubt',

  own_page: 'Deine Datenschutzseite zeigt, was dieser Bot über dich speichert und was du damit tun kannst.',
  own_page_open: 'Datenschutzseite öffnen',
  own_page_until: 'Der Link gilt bis {when}. Gib ihn nicht weiter: Wer ihn hat, sieht deine Seite.',
  own_page_missing:
    'Dieser Bot kann dir keine Datenschutzseite zeigen. Was er speichert, sagt dir `/privacy about`, und `/privacy export` gibt dir eine Kopie.',

  export_done: 'Deine Daten sind in der angehängten Datei. Nur du siehst diese Nachricht.',
  export_done_own_stores:
    'Die angehängte Datei enthält, was dieser Dienst über dich speichert, und was die eigenen Speicher des Bots zu denselben Servern geantwortet haben. Was dort von anderen Servern über dich ist, kann fehlen. Nur du siehst diese Nachricht.',
  export_read:
    'Zum Lesen und Drucken: Der Knopf öffnet deine Seite, auf der du dasselbe als Dokument bekommst. Der Link gilt bis {when}.',
  export_open: 'Kopie zum Lesen',
  export_short:
    'Deine Daten sind in der angehängten Datei. Weil sie sonst zu groß für Discord wäre, fehlen darin der Verlauf, die Zwecke der Kategorien, frühere Löschungen und was in den eigenen Speichern des Bots ist.',
  export_asked:
    'Die eigenen Speicher des Bots sind gefragt, aber ihr Teil ist noch nicht vollständig. Gib `/privacy export` in einigen Minuten noch einmal ein.',
  export_overdue: 'Der Teil aus eigenen Speichern des Bots ist nicht rechtzeitig gekommen.',
  export_not_asked:
    'Zu einigen Servern wurden die eigenen Speicher des Bots nicht gefragt: Gib `/privacy export` auch dort ein.',
  export_too_large: 'Deine Daten sind zu groß für eine Datei auf Discord.',
  export_nothing: 'Über dich ist nichts gespeichert.',
  export_nothing_own_stores:
    'Hier ist nichts über dich erfasst. Was der Bot in eigenen Speichern über dich hat, gehört nicht dazu.',
  ask_contact: 'Bitte wende dich an {contact}.',
  ask_operator: 'Bitte wende dich an die Betreiber dieses Bots.',

  revoke_which:
    'Welche Einwilligung widerrufst du? Danach wird auf ihrer Grundlage nichts Neues gespeichert.',
  revoke_which_some:
    'Welche Einwilligung widerrufst du? Danach wird auf ihrer Grundlage nichts Neues gespeichert. Was keine Einwilligung braucht, kann weiter gespeichert werden.',
  revoke_choose: 'Für einzelne Kategorien widerrufen',
  revoke_all: 'Alles widerrufen',
  revoke_done: 'Du hast deine Einwilligung widerrufen.',
  revoke_done_some: 'Du hast deine Einwilligung widerrufen für: {categories}.',
  revoke_nothing: 'Es gibt keine Einwilligung, die du widerrufen kannst.',
  revoke_changed: 'Es wurde nichts widerrufen: Was du widerrufen kannst, hat sich geändert. Bitte wähle neu.',

  forget_sure_here:
    'Alles löschen, was dieser Bot auf diesem Server über dich gespeichert hat? Das lässt sich nicht rückgängig machen.',
  forget_sure_bot_wide:
    'Alles löschen, was dieser Bot in Direktnachrichten, in privaten Kanälen und auf Servern, auf denen er nicht ist, über dich gespeichert hat? Das lässt sich nicht rückgängig machen.',
  forget_sure_bot_wide_own_stores:
    'Alles löschen, was dieser Bot in Direktnachrichten, in privaten Kanälen und auf Servern, auf denen er nicht ist, über dich gespeichert hat? Ist für keinen Server, auf dem der Bot ist, etwas über dich erfasst, löscht der Bot auch, was er in eigenen Speichern über dich hat. Das lässt sich nicht rückgängig machen.',
  forget_sure_everywhere:
    'Alles löschen, was dieser Bot über dich gespeichert hat, auf allen Servern und überall sonst? Das lässt sich nicht rückgängig machen.',
  forget_until: 'Der Knopf gilt bis {when}.',
  forget_yes: 'Meine Daten löschen',
  forget_no: 'Meine Daten behalten',
  forget_kept: 'Dieser Knopf löscht nichts. Wenn du auch den anderen gedrückt hast, gilt der andere.',
  forget_expired: 'Der Knopf ist abgelaufen und löscht nichts mehr. Beginne neu mit `/privacy forget`.',
  forget_done: 'Deine Daten sind gelöscht.',
  forget_nothing: 'Über dich war nichts gespeichert.',
  forget_under_way: 'Deine Daten werden gerade gelöscht. Vorgang: {id}',
  forget_certificate:
    'Die angehängte Datei ist die Bescheinigung der Löschung: Sie ist signiert und belegt, was wann gelöscht wurde. Bewahre sie auf: Du bekommst sie nur dieses eine Mal.',
  forget_certificates:
    'Die angehängte Datei enthält die Bescheinigungen der Löschungen, für jeden Server eine: Sie sind signiert und belegen, was wann gelöscht wurde. Bewahre die Datei auf: Du bekommst sie nur dieses eine Mal.',
  forget_salts:
    'Die angehängte Datei enthält zu jeder Bescheinigung den Salt, der sie dir zuordnet. Bewahre die Datei auf: Du bekommst sie nur dieses eine Mal.',
  forget_incomplete:
    'Fehlt in der Datei eine Bescheinigung, frag später die Betreiber des Bots danach und nenne ihnen die `request_id` aus der Datei.',
  forget_beyond: 'Nachrichten auf Discord und was der Bot anderswo aufbewahrt, sind nicht betroffen.',
  forget_messages: 'Nachrichten auf Discord sind nicht betroffen.',
  forget_own_stores:
    'Der Bot ist beauftragt, auch das zu löschen, was er in eigenen Speichern über dich hat. Das kann etwas dauern. Nachrichten auf Discord sind nicht betroffen.',
  forget_own_stores_here:
    'Der Bot ist beauftragt, auch das zu löschen, was er von diesem Server in eigenen Speichern über dich hat. Das kann etwas dauern. Nachrichten auf Discord sind nicht betroffen.',
  forget_own_stores_bot_wide:
    'Der Bot ist beauftragt, auch das zu löschen, was er in eigenen Speichern über dich hat. Das kann etwas dauern. Daten von Servern bleiben dort, solange für einen davon etwas über dich erfasst ist. Nachrichten auf Discord sind nicht betroffen.',

  refusals_title: 'Widerspruch und Einschränkung',
  refusals_none: 'Du hast hier weder widersprochen noch etwas eingeschränkt.',
  refusals_objected: 'Widersprochen am {when}: {what}',
  refusals_restricted: 'Eingeschränkt seit {when}: {what}',
  refusals_everything: 'alles',
  refusals_objectable: 'alles, dem du widersprechen kannst',
  refusals_lost:
    'Es wurde nichts vermerkt: Diese Kategorie gibt es nicht mehr, oder du kannst der Verarbeitung darin nicht widersprechen. Beginne neu mit `/privacy object`.',
  refusals_own_stores:
    'Was der Bot in eigenen Speichern über dich hat, muss er nach einer Einschränkung selbst ungenutzt lassen und nach einem Widerspruch selbst löschen. `/privacy forget` lässt es auch dort löschen.',
  refusals_missing: 'Dieser Bot kann das hier nicht vermerken. Es wurde nichts geändert.',

  restrict_why:
    '**Einschränken (Art. 18 DSGVO)**\nDer Bot kann dann hier weder für seine Zwecke abrufen noch ändern, was über dich gespeichert ist. Die Einschränkung gilt, bis sie aufgehoben wird: von dir, oder von den Betreibern des Bots auf deinen Wunsch. Die Daten bleiben gespeichert, bis ihre Speicherdauer oder die Frist nach einem Widerruf endet oder du sie löschst. Eine Kopie für dich kann der Bot weiter erstellen.',
  restrict_open: 'Einschränken …',
  restrict_which: 'Was schränkst du ein? Der Bot kann es dann weder für seine Zwecke abrufen noch ändern.',
  restrict_choose: 'Eine Kategorie einschränken',
  restrict_all: 'Alles einschränken',
  restrict_done:
    'Deine Einschränkung ist vermerkt. Der Bot kann weder für seine Zwecke abrufen noch ändern, was sie betrifft.',

  unrestrict_open: 'Einschränkung aufheben …',
  unrestrict_which:
    'Welche Einschränkung hebst du auf? Der Bot kann dann wieder abrufen und ändern, was sie betrifft.',
  unrestrict_choose: 'Eine Einschränkung aufheben',
  unrestrict_all: 'Alle Einschränkungen aufheben',
  unrestrict_done: 'Die Einschränkung ist aufgehoben.',
  unrestrict_partly: 'Die Einschränkung von allem gilt weiter.',

  object_why:
    '**Widersprechen (Art. 21 DSGVO)**\nWidersprechen kannst du der Verarbeitung von Daten, deren Rechtsgrundlage berechtigte Interessen oder eine öffentliche Aufgabe ist. Was davon hier über dich gespeichert ist, wird dann sofort gelöscht, und der Bot kann nichts davon mehr speichern. Das lässt sich nicht rückgängig machen: Ein Widerspruch gegen eine Kategorie endet, wenn du alles löschst oder der Bot die Kategorie entfernt; einer gegen alles nur, wenn du alles löschst.',
  object_none:
    'Du kannst hier keinen Widerspruch einlegen: Nichts, was dieser Bot angegeben hat, hat berechtigte Interessen oder eine öffentliche Aufgabe als Rechtsgrundlage. `/privacy revoke` widerruft deine Einwilligung, `/privacy forget` löscht, was gespeichert ist.',
  object_no_more:
    'Du kannst hier keinen weiteren Widerspruch einlegen: Nichts anderes, was dieser Bot angegeben hat, hat berechtigte Interessen oder eine öffentliche Aufgabe als Rechtsgrundlage. `/privacy revoke` widerruft deine Einwilligung, `/privacy forget` löscht, was gespeichert ist.',
  object_open: 'Widersprechen …',
  object_which: 'Wogegen legst du Widerspruch ein? Bevor etwas gelöscht wird, wirst du noch einmal gefragt.',
  object_choose: 'Für eine Kategorie widersprechen',
  object_all: 'Allem widersprechen',
  object_sure:
    'Der Verarbeitung widersprechen: {what}? Was davon hier über dich gespeichert ist, wird sofort gelöscht, und der Bot kann nichts davon mehr speichern. Das lässt sich nicht rückgängig machen.',
  object_yes: 'Widersprechen und löschen',
  object_expired: 'Der Knopf ist abgelaufen und löscht nichts mehr. Beginne neu mit `/privacy object`.',
  object_done: 'Dein Widerspruch ist vermerkt. Was er betrifft, ist gelöscht.',

  verify_open: 'Datei prüfen',

  page_back: 'Zurück',
  page_next: 'Weiter',
  page_of: 'Seite {page} von {pages}',
  outdated: 'Diese Nachricht stammt von einer anderen Version des Bots. Bitte beginne neu mit `/privacy`.',
  busy: 'Deine Daten werden gerade gelöscht. Bitte versuche es in ein paar Minuten noch einmal.',
  later: 'Das geht im Moment nicht. Bitte versuche es in einer Minute noch einmal.',
  failed: 'Etwas ist fehlgeschlagen und wurde den Betreibern gemeldet. Bitte versuche es später noch einmal.',
};
