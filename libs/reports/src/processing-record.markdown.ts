import { purposeIn } from '@app/categories';
import type { ActivityView, ProcessingRecordHead } from './reports.dto';

/** The beginning of the document, up to the heading of the categories. */
export function headInMarkdown(record: ProcessingRecordHead): string {
  const { controller, recipients, time_limits: limits, security_measures: measures } = record;
  return `# Record of processing activities

GDPR Art. 30(1); written ${record.generated_at} from what the bot has declared and how this service is configured.

## Controller

- Name: ${plain(controller.name)}
- Contact: ${controller.privacy_contact === null ? 'not given' : plain(controller.privacy_contact)}
- Bot: ${controller.bot_id} (platform id ${controller.platform_bot_id})

## Data subjects

${record.data_subjects}

## Recipients

${list(recipients.map(({ recipient, host, receives }) => `${recipient}${host === null ? '' : ` (${plain(host)})`}: ${receives}`))}

## Transfers to third countries

${record.transfers}

## Time limits for erasure

${list(limits.map(({ applies_to, days }) => `${applies_to}: ${days === null ? 'no limit by time' : `${days} days`}`))}
- Data categories: see below

## Technical and organisational measures

${list(measures)}

## Processing activities by category of personal data
`;
}

export function activityInMarkdown(activity: ActivityView): string {
  const { purpose, retention_days: days } = activity;
  const rows = activity.fields.map((field) => {
    const description = inBoth(purposeIn('en', field), field.description_de);
    return `| ${[field.key, field.type, field.label_en, field.label_de, description].map(plain).join(' | ')} |`;
  });
  const head = ['| Field | Type | English | German | Description |', '| --- | --- | --- | --- | --- |'];
  return `
### ${plain(activity.label_en)} / ${plain(activity.label_de)}

- Key: ${plain(activity.category)}
- Purpose: ${purpose === null ? 'not declared' : plain(inBoth(purpose, activity.purpose_de))}
- Legal basis: ${plain(activity.legal_basis)}
- Erased: ${days === null ? 'no period declared' : `${days} days after the last update`}

${rows.length === 0 ? 'Any values; no fields are declared.' : [...head, ...rows].join('\n')}
`;
}

/** A text in English, and in German where it was declared so. */
function inBoth(text: string | null, german?: string): string {
  return [...new Set([text ?? '', german ?? ''])].filter((one) => one !== '').join(' / ');
}

function list(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n');
}

/** Line breaks, control characters, and marks that change the direction of text. */
const UNPRINTABLE = /[\s\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;
/** Characters with a meaning in a line of Markdown, tables included. */
const MARKUP = /[\\`*_{}[\]()<>#!|~&$^=+:]/g;

/** Foreign text without any markup, on one line (CommonMark section 2.4). */
function plain(text: string): string {
  return text.replace(UNPRINTABLE, ' ').trim().replace(MARKUP, '\\$&');
}
