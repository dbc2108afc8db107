/** The words of the conversation. `{name}` is replaced by a value. */
export const EN = {
  command: 'What this bot stores about you, and your rights',
  command_about: 'What this bot stores, why, and for how long',
  command_consent: 'Decide what this bot may store about you',
  command_status: 'What you have decided',
  command_page: 'Your privacy page: see what is stored, and what you can do about it',
  command_export: 'Get a copy of your data as a file',
  command_revoke: 'Withdraw your consent',
  command_forget: 'Have your data erased',
  command_object: 'Object to the processing of your data, or restrict it',
  option_where: 'Only here, or everywhere you use this bot',
  where_here: 'Here',
  where_everywhere: 'Everywhere',

  about_title: 'What {bot} stores about you',
  about_intro: 'Nothing is stored without your consent. You decide with `/privacy consent`.',
  about_intro_some:
    'What needs your consent is not stored without it: you decide with `/privacy consent`. What needs none has its reason below.',
  about_intro_none: 'Nothing below needs your consent. Each part has its reason.',
  about_intro_own_stores:
    'Nothing that needs your consent is stored with this service without it: you decide with `/privacy consent`.',
  about_nothing: 'This bot has not declared any data. It stores nothing about you with this service.',
  about_fields: 'Data: {fields}',
  about_basis: 'Legal basis: {basis}',
  about_without_consent: 'Stored without consent. Reason given by the bot: {reason}',
  about_kept_day: 'Kept for: 1 day after the last change',
  about_kept_days: 'Kept for: {days} days after the last change',
  about_kept: 'Kept until you withdraw your consent or have it erased',
  about_kept_after_day: 'Kept until you have it erased, or until one day after you withdraw your consent',
  about_kept_after: 'Kept until you have it erased, or until {days} days after you withdraw your consent',
  about_kept_without_consent: 'Kept until you have it erased',
  about_rights:
    'Your rights: a copy with `/privacy export`, withdrawal with `/privacy revoke`, erasure with `/privacy forget`, restriction with `/privacy object`. You can also complain to a data protection authority.',
  about_object_title: 'Your right to object (Art. 21 GDPR)',
  about_object:
    'With `/privacy object` you can object at any time to the processing of this data: {categories}. It is then erased.',
  about_correct: 'On your privacy page (`/privacy page`) you can correct: {fields}.',
  about_responsible: 'Who is responsible',
  about_controller: 'Controller: {controller}',
  about_address: 'Address: {address}',
  about_contact: 'Contact for privacy: {contact}',
  about_officer: 'Data protection officer: {officer}',
  about_authority: 'Supervisory authority: {authority}',
  about_policy: "The bot's own privacy policy: {url}",
  about_recipients: 'Who receives the data',
  about_third_country: '{country}, outside the European Economic Area',
  about_safeguards: 'Safeguards: {safeguards}',
  about_interests: 'Legitimate interests',
  about_source: 'Where the data comes from',
  about_automated: 'Automated decisions',
  about_automated_none: 'There are none (Art. 22 GDPR).',
  about_notice_open: 'Read the privacy notice',
  basis_consent: 'your consent (Art. 6(1)(a) GDPR)',
  basis_contract: 'a contract (Art. 6(1)(b) GDPR)',
  basis_legal_obligation: 'a legal obligation (Art. 6(1)(c) GDPR)',
  basis_vital_interests: 'vital interests (Art. 6(1)(d) GDPR)',
  basis_public_task: 'a public task (Art. 6(1)(e) GDPR)',
  basis_legitimate_interests: 'legitimate interests (Art. 6(1)(f) GDPR)',

  consent_choose: 'Choose what may be stored',
  consent_chosen: 'Agree to the selection ({count})',
  consent_agree: 'I agree',
  consent_decline: 'No, thank you',
  consent_details: 'Which data this is in detail: `/privacy about`',
  consent_read_on: 'Read on to decide.',
  consent_changed: 'The text has changed since it was shown to you. Please read it and decide again.',
  consent_not_needed:
    'This bot asks for no consent. `/privacy about` says what it stores about you, and why.',
  consent_none: 'This bot asks for no consent here at the moment.',
  consent_version: 'Version {version}',
  consent_notice: 'Privacy notice: {url}',
  consent_in_force: 'You agreed to this on {when}.',
  consent_done: 'Thank you. You agreed to:',
  consent_receipt: 'The attached file is your receipt: it is signed, and proves what you agreed to and when.',
  consent_withdraw: 'You can withdraw at any time with `/privacy revoke`.',
  consent_declined:
    'Understood. You have not agreed to anything. If you change your mind: `/privacy consent`.',
  consent_declined_kept: 'What you agreed to before stays in force. `/privacy revoke` withdraws it.',

  command_again: 'Now please give your command again.',
  command_needs: 'Your command needs something that you have not agreed to: `/privacy consent`.',
  command_failed:
    'Your consent is recorded, but then your command failed, and this was reported to the people who run this bot. Please give it again later.',
  command_objected:
    'Your command needs data to whose processing you have objected. Nothing was stored. `/privacy object` shows your objections.',
  command_restricted:
    'Your command needs data whose processing you have restricted. Nothing was changed. `/privacy object` ends a restriction.',

  status_title: 'What you have decided',
  status_declined: 'You declined on {when}. If you change your mind: `/privacy consent`.',
  status_declined_newer: 'You declined a newer text on {when}. If you change your mind: `/privacy consent`.',
  status_none:
    'You have given no consent, and no request waits for your answer. Nothing is stored about you here.',
  status_none_some:
    'You have given no consent, and no request waits for your answer. What needs your consent is not stored about you here.',
  status_none_own_stores: 'You have given no consent, and no request waits for your answer.',
  status_pending: 'You have not decided yet. Nothing new is stored about you here.',
  status_pending_some:
    'You have not decided yet. Nothing new that needs your consent is stored about you here.',
  status_pending_own_stores:
    'You have not decided yet. Nothing new that needs your consent is stored about you here with this service.',
  status_accepted: 'You agreed on {when}.',
  status_accepted_version: 'You agreed to version {version} on {when}.',
  status_revoked: 'You withdrew your consent on {when}. Nothing new is stored about you here.',
  status_revoked_some:
    'You withdrew your consent on {when}. Nothing new that needs it is stored about you here.',
  status_revoked_own_stores:
    'You withdrew your consent on {when}. Nothing new that needs it is stored about you here with this service.',
  status_newer: 'A newer text waits for your decision: `/privacy consent`.',
  status_erased_at: 'What was stored under a consent that is no longer in force is erased on {when}.',
  without_consent: 'What this bot may store without your consent, and its reason:',
  own_stores: 'What the bot keeps about you in stores of its own is not shown here.',
  state_accepted: 'agreed',
  state_revoked: 'withdrawn',
  state_pending: 'not decided',
  state_none: 'not agreed',

  own_page: 'Your privacy page shows what this bot stores about you, and what you can do about it.',
  own_page_open: 'Open your privacy page',
  own_page_until: 'The link works until {when}. Do not pass it on: anyone who has it sees your page.',
  own_page_missing:
    'This bot cannot show you a privacy page. `/privacy about` says what it stores, and `/privacy export` gives you a copy.',

  export_done: 'Your data is in the attached file. Only you can see this message.',
  export_done_own_stores:
    "The attached file has what this service stores about you, and what the bot's own stores have answered for the same servers. What they have about you from other servers can be missing. Only you can see this message.",
  export_read:
    'To read and to print: the button opens your page, where you get the same as a document. The link works until {when}.',
  export_open: 'Copy to read',
  export_short:
    "Your data is in the attached file. Left out, because it would be too large for Discord: the history, what the categories are for, earlier erasures, and what the bot's own stores have.",
  export_asked:
    "The bot's own stores have been asked, and their part is not complete yet. Give `/privacy export` again in some minutes.",
  export_overdue: "Some of the bot's own stores have not given their part in time.",
  export_not_asked: "For some servers the bot's own stores were not asked: give `/privacy export` there.",
  export_too_large: 'Your data is too large for a file on Discord.',
  export_nothing: 'Nothing is stored about you.',
  export_nothing_own_stores:
    'Nothing is recorded about you here. What the bot keeps about you in stores of its own is not part of this.',
  ask_contact: 'Please ask {contact}.',
  ask_operator: 'Please ask the people who run this bot.',

  revoke_which: 'Which consent do you withdraw? After that nothing new is stored under it.',
  revoke_which_some:
    'Which consent do you withdraw? After that nothing new is stored under it. What needs no consent can still be stored.',
  revoke_choose: 'Withdraw for some',
  revoke_all: 'Withdraw everything',
  revoke_done: 'You have withdrawn your consent.',
  revoke_done_some: 'You have withdrawn your consent to: {categories}.',
  revoke_nothing: 'There is no consent to withdraw.',
  revoke_changed: 'Nothing was withdrawn: what you can withdraw has changed. Please choose again.',

  forget_sure_here: 'Erase everything this bot has stored about you on this server? This cannot be undone.',
  forget_sure_bot_wide:
    'Erase everything this bot has stored about you in direct messages, in private channels and on servers that it is not on? This cannot be undone.',
  forget_sure_bot_wide_own_stores:
    'Erase everything this bot has stored about you in direct messages, in private channels and on servers that it is not on? If nothing about you is recorded for a server that the bot is on, the bot also erases what it keeps about you in stores of its own. This cannot be undone.',
  forget_sure_everywhere:
    'Erase everything this bot has stored about you, on every server and everywhere else? This cannot be undone.',
  forget_until: 'The button works until {when}.',
  forget_yes: 'Erase my data',
  forget_no: 'Keep my data',
  forget_kept: 'This button erases nothing. If you have pressed the other one too, that one counts.',
  forget_expired: 'The button has expired and erases nothing any more. Begin again with `/privacy forget`.',
  forget_done: 'Your data has been erased.',
  forget_nothing: 'Nothing was stored about you.',
  forget_under_way: 'Your data is being erased. Reference: {id}',
  forget_certificate:
    'The attached file is the certificate of the erasure: it is signed, and proves what was erased and when. Keep it: you get it this once.',
  forget_certificates:
    'The attached file has the certificates of the erasures, one for each server: they are signed, and prove what was erased and when. Keep it: you get it this once.',
  forget_salts:
    'The attached file has the salt of each certificate, which ties it to you. Keep the file: you get it only once.',
  forget_incomplete:
    'If a certificate is missing in the file, ask the people who run this bot for it later, and give them its `request_id` from the file.',
  forget_beyond: 'Messages on Discord and what the bot keeps elsewhere are not affected.',
  forget_messages: 'Messages on Discord are not affected.',
  forget_own_stores:
    'The bot has also been asked to erase what it keeps about you in stores of its own, which can take a while. Messages on Discord are not affected.',
  forget_own_stores_here:
    'The bot has also been asked to erase what it keeps about you from this server in stores of its own, which can take a while. Messages on Discord are not affected.',
  forget_own_stores_bot_wide:
    'The bot has also been asked to erase what it keeps about you in stores of its own, which can take a while. Data from servers stays there as long as something about you is recorded for one of them. Messages on Discord are not affected.',

  refusals_title: 'Objection and restriction',
  refusals_none: 'You have not objected to anything here, and have not restricted anything.',
  refusals_objected: 'Objected on {when}: {what}',
  refusals_restricted: 'Restricted since {when}: {what}',
  refusals_everything: 'everything',
  refusals_objectable: 'everything that you can object to',
  refusals_lost:
    'Nothing was recorded: this category does not exist any more, or you cannot object to it. Begin again with `/privacy object`.',
  refusals_own_stores:
    'What the bot keeps about you in stores of its own, the bot itself has to leave unused after a restriction, and to erase after an objection. `/privacy forget` has it erased there too.',
  refusals_missing: 'This bot cannot record that here. Nothing was changed.',

  restrict_why:
    '**Restrict (Art. 18 GDPR)**\nThe bot can then no longer read for its purposes, or change, what is stored about you here. The restriction is in force until it is ended: by you, or by the people who run the bot at your request. The data stays stored until its storage time or the time after a withdrawal ends, or until you erase it. The bot can still make a copy for you.',
  restrict_open: 'Restrict …',
  restrict_which: 'What do you restrict? The bot can then no longer read it for its purposes, or change it.',
  restrict_choose: 'Restrict one',
  restrict_all: 'Restrict everything',
  restrict_done:
    'Your restriction is recorded. The bot can no longer read for its purposes, or change, what it is about.',

  unrestrict_open: 'End a restriction …',
  unrestrict_which: 'Which restriction do you end? The bot can then read and change again what it is about.',
  unrestrict_choose: 'End one restriction',
  unrestrict_all: 'End every restriction',
  unrestrict_done: 'The restriction has ended.',
  unrestrict_partly: 'The restriction of everything is still in force.',

  object_why:
    '**Object (Art. 21 GDPR)**\nYou can object to what has the legal basis legitimate interests or a public task. What is stored about you here is then erased at once, and the bot can store no more of it. This cannot be undone: an objection to a category ends when you erase everything or the bot removes the category; one to everything only when you erase everything.',
  object_none:
    'You can object to nothing here: nothing that this bot has declared has the legal basis legitimate interests or a public task. `/privacy revoke` withdraws your consent, `/privacy forget` erases what is stored.',
  object_no_more:
    'You can object to nothing more here: nothing else that this bot has declared has the legal basis legitimate interests or a public task. `/privacy revoke` withdraws your consent, `/privacy forget` erases what is stored.',
  object_open: 'Object …',
  object_which: 'What do you object to? You are asked once more before anything is erased.',
  object_choose: 'Object to one',
  object_all: 'Object to everything',
  object_sure:
    'Object to the processing: {what}? What is stored of it about you here is erased at once, and the bot can store no more of it. This cannot be undone.',
  object_yes: 'Object and erase',
  object_expired: 'The button has expired and erases nothing any more. Begin again with `/privacy object`.',
  object_done: 'Your objection is recorded. What it is about is erased.',

  verify_open: 'Check the file',

  page_back: 'Back',
  page_next: 'Next',
  page_of: 'Page {page} of {pages}',
  outdated: 'This message is from another version of the bot. Please begin again with `/privacy`.',
  busy: 'An erasure of your data is under way. Please try again in a few minutes.',
  later: 'This is not possible at the moment. Please try again in a minute.',
  failed: 'Something failed, and it was reported to the people who run this bot. Please try again later.',
};

/** The words of one language. */
export type Texts = Readonly<Record<keyof typeof EN, string>>;
