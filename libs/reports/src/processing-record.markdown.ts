import { legalBasisIn } from '@app/categories';
import type { Activity, ProcessingRecordHead } from './processing-record.dto';
import { RECORD_TEXTS, type RecordLanguage } from './processing-record.texts';

/** The beginning of the document, up to the heading of the categories. */
export function headInMarkdown(record: ProcessingRecordHead, language: RecordLanguage): string {
  const { document: words } = RECORD_TEXTS[language];
  const { controller, recipients, time_limits: limits, security_measures: measures } = record;
  return `# ${words.title}

${words.basis(record.generated_at)}

## ${words.controller}

- ${words.name}: ${plain(controller.name)}
- ${words.contact}: ${controller.privacy_contact === null ? words.notGiven : plain(controller.privacy_contact)}
- ${words.bot}: ${controller.bot_id} (${words.platformId} ${controller.platform_bot_id})

## ${words.subjects}

${record.data_subjects}

## ${words.recipients}

${list(recipients.map(({ recipient, host, receives }) => `${recipient}${host === null ? '' : ` (${plain(host)})`}: ${receives}`))}

## ${words.transfers}

${record.transfers}

## ${words.limits}

${list(limits.map(({ applies_to, days }) => `${applies_to}: ${days === null ? words.noLimit : words.days(days)}`))}
- ${words.ofCategories}

## ${words.measures}

${list(measures)}

## ${words.activities}
`;
}

export function activityInMarkdown(activity: Activity, language: RecordLanguage): string {
  const { document: words } = RECORD_TEXTS[language];
  const { category, label_de, label_en, purpose, legal_basis, retention_days: days, fields } = activity;
  const rows = fields.map((field) =>
    row([field.key, field.type, field.label_en, field.label_de, field.description ?? ''].map(plain)),
  );
  const table = [row(words.columns), row(words.columns.map(() => '---')), ...rows];
  return `
### ${plain(label_en)} / ${plain(label_de)}

- ${words.key}: ${plain(category)}
- ${words.purpose}: ${purpose === null ? words.notDeclared : plain(purpose)}
- ${words.legalBasis}: ${legalBasisIn(language, legal_basis)}
- ${words.erased}: ${days === null ? words.noPeriod : words.afterUpdate(days)}

${rows.length === 0 ? words.anyValues : table.join('\n')}
`;
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
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
