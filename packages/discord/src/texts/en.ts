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
  option_where: 'This server alone, or every server where you use this bot',
  where_here: 'This server',
  where_everywhere: 'Everywhere',

  about_title: 'What {bot} stores about you',
  about_intro: 'Nothing is stored without your consent. You decide with `/privacy consent`.',
  about_nothing: 'This bot has not declared any data. It stores nothing about you with this service.',
  about_fields: 'Data: {fields}',
  about_basis: 'Legal basis: {basis}',
  about_kept_days: 'Kept for: {days} days',
  about_kept: 'Kept until you withdraw your consent or have it erased',
  about_rights:
    'Your rights: a copy with `/privacy export`, withdrawal with `/privacy revoke`, erasure with `/privacy forget`. You can also complain to a data protection authority.',
  about_contact: 'Contact for privacy: {contact}',
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

  status_title: 'What you have decided',
  status_declined: 'You declined on {when}. If you change your mind: `/privacy consent`.',
  status_declined_newer: 'You declined a newer text on {when}. If you change your mind: `/privacy consent`.',
  status_none: 'You have not been asked yet. Nothing is stored about you here.',
  status_pending: 'You have not decided yet. Nothing new is stored about you here.',
  status_accepted: 'You agreed on {when}.',
  status_accepted_version: 'You agreed to version {version} on {when}.',
  status_revoked: 'You withdrew your consent on {when}. Nothing new is stored about you here.',
  status_newer: 'A newer text waits for your decision: `/privacy consent`.',
  status_erased_at: 'What is still stored is erased on {when}.',
  state_accepted: 'agreed',
  state_revoked: 'withdrawn',
  state_pending: 'not decided',
  state_none: 'not agreed',

  own_page: 'Your privacy page shows what this bot stores about you, and what you can do about it.',
  own_page_open: 'Open your privacy page',
  own_page_until: 'The link works until {when}. Do not pass it on: whoever has it sees your page.',
  own_page_missing:
    'This bot cannot show you a privacy page. `/privacy about` says what it stores, and `/privacy export` gives you a copy.',

  export_done: 'Your data is in the attached file. Only you can see this message.',
  export_read:
    'To read and to print: the button opens your page, where you get the same as a document. The link works until {when}.',
  export_open: 'Copy to read',
  export_short:
    'Your data is in the attached file. The history was left out because the file would be too large for Discord.',
  export_too_large: 'Your data is too large for a file on Discord.',
  export_nothing: 'Nothing is stored about you.',
  ask_contact: 'Please ask {contact}.',
  ask_operator: 'Please ask the people who run this bot.',

  revoke_which: 'Which consent do you withdraw? Nothing more is stored in what you withdraw.',
  revoke_choose: 'Withdraw for some',
  revoke_all: 'Withdraw everything',
  revoke_done: 'You have withdrawn your consent.',
  revoke_done_some: 'You have withdrawn your consent to: {categories}.',
  revoke_nothing: 'There is no consent to withdraw.',

  forget_sure_here: 'Erase everything this bot has stored about you on this server? This cannot be undone.',
  forget_sure_everywhere:
    'Erase everything this bot has stored about you on every server? This cannot be undone.',
  forget_until: 'The button works until {when}.',
  forget_yes: 'Erase my data',
  forget_no: 'Keep my data',
  forget_kept: 'Nothing was erased.',
  forget_expired: 'The button has expired. Nothing was erased. Begin again with `/privacy forget`.',
  forget_done: 'Your data has been erased.',
  forget_nothing: 'Nothing was stored about you.',
  forget_under_way: 'Your data is being erased. Reference: {id}',
  forget_certificate:
    'The attached file is the certificate of the erasure: it is signed, and proves what was erased and when. Keep it: you get it this once.',
  forget_certificates:
    'The attached file has the certificates of the erasures, one for each server: they are signed, and prove what was erased and when. Keep it: you get it this once.',
  forget_salts: 'The attached file has the key (salt) to each certificate. Keep it: you get it this once.',
  forget_incomplete: 'A certificate that is missing in the file is handed out for its reference later.',
  forget_beyond: 'Messages on Discord and what the bot keeps elsewhere are not affected.',

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
