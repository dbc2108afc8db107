import { COPY_EN } from './texts.copy';
import { REFUSALS_EN } from './texts.refusals';
import { CORRECTION_EN } from './texts.correction';
import { DUE_EN } from './texts.due';
import { HOLDERS_EN } from './texts.holders';
import { LAST_EN } from './texts.last';

/** The words of the page in English. */
export const EN = {
  title: 'Your data',
  intro: (bot: string) => `${bot} stores data with Lethe.`,
  introSeen: 'Here you see what is stored about you.',
  introDecided: 'Here you decide what is stored about you.',
  introBoth: 'Here you see what is stored about you, and decide about it.',
  scopeOne: 'This page is about you in one place:',
  scopeAll: 'This page is about you in all servers of this bot.',
  alone: 'Share the link to this page with no one: anyone who has it sees the page.',
  expires: (at: string) => `It ends on ${at}.`,
  clock: (time: string) => time,
  zone: 'All times are in UTC.',
  guild: (place: string) => `Server ${place}`,
  direct: 'Direct messages',
  stored: 'What is stored',
  nothing: 'Nothing is stored about you.',
  nothingStored: 'No values are stored.',
  noValues: (count: number) =>
    count === 1
      ? 'One category in which nothing is stored'
      : `${count} categories in which nothing is stored`,
  others: 'Further categories',
  why: 'What it is for, and how long it is kept',
  whyWithoutConsent: 'Why without consent, what for, and how long',
  purpose: 'Purpose',
  basis: 'Legal basis',
  basisOf: {
    consent: 'consent (Art. 6(1)(a) GDPR)',
    contract: 'contract (Art. 6(1)(b) GDPR)',
    legal_obligation: 'legal obligation (Art. 6(1)(c) GDPR)',
    vital_interests: 'vital interests (Art. 6(1)(d) GDPR)',
    public_task: 'public task (Art. 6(1)(e) GDPR)',
    legitimate_interests: 'legitimate interests (Art. 6(1)(f) GDPR)',
  },
  withoutConsent: 'stored without consent',
  withoutConsentReason: 'No consent: reason given by the bot',
  retention: 'Kept',
  noPurpose: 'The bot names none.',
  days: (days: number) => `${days === 1 ? 'for one day' : `for ${days} days`} after the last change`,
  untilWithdrawn: (days: number) =>
    days === 0
      ? 'until you withdraw your consent or have it erased'
      : `until you have it erased, or until ${days === 1 ? 'one day' : `${days} days`} after you withdraw your consent`,
  untilErased: 'until you have it erased',
  due: DUE_EN,
  empty: 'no value',
  yes: 'yes',
  no: 'no',
  more: 'There is more. The copies below have everything.',
  moreOnFirst: 'There is more. The copies on the first page of your link have everything.',
  moreOf: 'There is more. A page of its own shows more of it:',
  moreUncopied: 'There is more. Ask the bot for a copy of everything.',
  unreadable: 'Some values cannot be read. Please ask the team of the bot.',
  hidden: 'This link does not show what is stored.',
  consent: 'Your consent',
  state: {
    none: 'You have given no consent, and no request waits for your answer.',
    pending: 'You were asked and have not answered yet.',
    accepted: 'You have consented.',
    revoked: 'You have withdrawn your consent.',
  },
  declined: (at: string) =>
    `You declined on ${at}. If you change your mind, let the bot ask you again: then you can consent there or here.`,
  declinedNewer: (at: string) =>
    `You declined a newer request on ${at}. What you consented to before stays in force.`,
  declinedHere: (at: string) => `You declined on ${at}. If you change your mind, you can decide again here.`,
  again: 'Decide again',
  stateOf: { none: 'not chosen', pending: 'asked', accepted: 'consented', revoked: 'withdrawn' },
  note: {
    accepted: 'Your consent is recorded.',
    declined: 'Your answer is recorded: you have not consented.',
    revoked: 'Your withdrawal is recorded.',
    asked: 'Read the request again and decide. Until then everything stays as it is.',
    ended:
      'This request does not exist any more as it was, so nothing was recorded. Please let the bot ask you again.',
    answered: 'This was answered already. Below you see how it is now.',
    withdrawn: 'This was withdrawn already. Below you see how it is now.',
    choose: 'Choose at least one category, or decline. Nothing was recorded yet.',
    erased: 'The data of this category is erased.',
    erasedBefore: 'Nothing is stored in this category any more.',
    corrected: 'Your correction is saved.',
    ...REFUSALS_EN.note,
    same: 'This value was stored already, so nothing was changed.',
    uncorrected:
      'Nothing was changed. This value cannot be corrected here any more: your consent to it has ended, it is erased, or the bot no longer lets you.',
    empty: 'No values and no consent of yours are stored here, so there is no copy.',
    changed:
      'The request has changed since you opened this page, so nothing was recorded. Please read it again and decide.',
  },
  did: {
    accepted: (what: string) => (what === '' ? 'You have consented.' : `You have consented: ${what}.`),
    revoked: (what: string) =>
      what === '' ? 'You have withdrawn your whole consent.' : `Withdrawn: ${what}.`,
    erased: (what: string) => `Erased: ${what}.`,
    corrected: (what: string) => `Corrected: ${what}.`,
  },
  asked: 'The bot asks for your consent',
  choose: 'Choose what you consent to. You can withdraw it here at any time.',
  accept: 'Consent to what I have chosen',
  acceptAll: 'I consent',
  decline: 'No, thank you',
  revoke: 'Withdraw:',
  revokeAll: 'Withdraw my whole consent',
  words: 'The text that you were shown',
  history: 'History of your consent',
  action: {
    requested: 'asked',
    shown: 'shown again',
    accepted: 'consented',
    declined: 'declined',
    revoked: 'withdrawn',
    categories_withdrawn: 'withdrawn in part',
  },
  done: 'What was done so far',
  latest: 'These are the latest eight.',
  latestCopied: 'These are the latest eight; the copy to read has all.',
  event: {
    consent_requested: 'You were asked for consent',
    consent_accepted: 'Consent was given',
    consent_revoked: 'Consent was withdrawn',
    data_submitted: 'Data was stored',
    data_exported: 'Data was exported',
    data_deleted: 'Data was deleted',
    deletion_requested: 'An erasure was requested',
    deletion_completed: 'An erasure was completed',
    deletion_failed: 'An erasure failed',
  },
  byBot: 'The bot has noted',
  viaPage: 'on your privacy page',
  export: 'Get a copy',
  exportWhy:
    'Everything that is stored about you, with the history of your consent: to read and print, or as JSON for programs.',
  exportHtml: 'Download to read',
  exportJson: 'Download as JSON',
  exportTitle: 'A copy of your data',
  exportedAt: (at: string) => `Made on ${at}.`,
  userId: (id: string) => `Your id is ${id}.`,
  serverId: (id: string) => `Id of the server: ${id}`,
  version: (version: string) => `Version of the request: ${version}`,
  ...COPY_EN,
  rights: 'Your rights',
  rightsText: [
    'You can have wrong data corrected (Art. 16 GDPR), have data erased (Art. 17) and have its processing restricted (Art. 18).',
    'You can withdraw a consent at any time with effect for the future (Art. 7(3)).',
    'You can complain to a supervisory authority for data protection, for example where you live (Art. 77).',
  ],
  correction: CORRECTION_EN,
  refusals: REFUSALS_EN,
  holders: HOLDERS_EN,
  last: LAST_EN,
  erase: (what: string) => `Erase ${what} …`,
  eraseSure: (what: string) => `Erase ${what}?`,
  eraseLast:
    'What is stored about you in this category is erased at once. It cannot be undone. What the bot keeps elsewhere is not affected. A certificate is made only when you erase everything.',
  eraseConsent:
    'Your consent stays: the bot can store something here again. If you do not want that, withdraw it.',
  eraseFree: {
    again: 'The bot can store something here again without your consent. A withdrawal does not stop it.',
    object: 'If you do not want that, object to the processing.',
    restrict: 'If you do not want that, restrict the processing.',
    both: 'If you do not want that, object to the processing or restrict it.',
  },
  eraseNow: 'Yes, erase it',
  forget: 'Erase everything',
  forgetWhy:
    'Erases all data that is stored about you here, with your consent and its history. It cannot be undone.',
  forgetAsk: 'Erase …',
  forgetSure: 'Erase everything about you?',
  forgetLast:
    'All values, your consent and its history are erased, and the key that encrypts them is destroyed.',
  forgetBeyond:
    'Messages on the platform, and what the bot keeps elsewhere, are not affected. If you want a copy, download it before.',
  forgetNow: 'Yes, erase everything',
  back: 'Back',
  forgotten: 'Your data is erased',
  forgottenText: 'Everything that was stored about you here is erased. The link to this page has ended.',
  forgottenKept: (evidence: number, backups: number) =>
    `The record of the erasure has your id for ${evidence === 1 ? 'one more day' : `${evidence} more days`}, encrypted.${
      backups === 0
        ? ''
        : ` Backups can contain what was erased for ${backups === 1 ? 'one more day' : `${backups} more days`}: values and your id only encrypted.`
    }`,
  forgottenPart: 'Not everything is erased yet',
  forgottenPartText:
    'Some servers are not done yet: open the page again and erase the rest. First keep the certificates below: they are shown only here.',
  forgetRest: 'Open the page again',
  forgottenNothing: 'Nothing was stored about you.',
  keep: 'Keep this certificate',
  request: 'Number of the erasure',
  salt: 'Salt that ties the certificate to you',
  certificate: 'Certificate',
  downloadCertificate: 'Download the certificate',
  verify: 'Check the certificate',
  dead: 'This link is not valid',
  deadText: 'It has ended, or was used for an erasure, or never existed. Ask the bot for a new one.',
  refused: 'This is not possible here',
  refusedText:
    'The link does not allow it, or the form was not sent from this page. Open the page again and try it there.',
  suspended:
    'The bot is suspended: you can see, export, withdraw, object, restrict and erase, and nothing else.',
  busy: 'Too many requests',
  busyText: 'Please wait a minute and try again.',
  conflict: 'An erasure is under way',
  conflictText: 'Your data is being erased already. Open the page again in a moment.',
  large: 'Nothing was recorded: what was sent is too long. Please go back and shorten it.',
  fault: 'That did not work',
  faultText: 'Please try again in a moment.',
  onRecord: 'Your erasure is on record',
  onRecordText: (id: string) =>
    `It has the number ${id} and will be finished as soon as possible, without a further request. If your page still shows something later, you can erase it there.`,
  language: 'Language',
  /** The words before and after the names of the categories whose consent ends. */
  replaces: (days: number | undefined, isNamed: boolean): readonly [string, string] => [
    'If you consent, this replaces your earlier consent: it ends for ',
    `${isNamed ? ', and for ' : ''}everything that you do not choose${
      days === undefined
        ? ''
        : `, and what is stored there on the basis of your consent is erased ${days === 0 ? 'then' : `after ${days === 1 ? 'one day' : `${days} days`}`}`
    }.`,
  ],
  readAndDecide: 'Read the whole request and decide',
  further: 'Further servers',
  furtherMore: 'There are still more servers. Have the bot give you a link to one of them alone.',
};

export type PageTexts = typeof EN;
