import { CategoriesService, type Category, consentFree, purposeIn } from '@app/categories';
import { inPortions, type Tx, UnitOfWork } from '@app/database';
import { AnswerStream, type LetheRequest } from '@app/http';
import { notFound } from '@app/kernel';
import { Injectable } from '@nestjs/common';
import type { DeclarationGaps } from './declaration-gaps';
import { type Declared, declaredOf } from './declared-facts';
import { HTML } from './document.html';
import { MARKDOWN } from './document.markdown';
import type { DocumentLanguage } from './documents.texts';
import type { ActivityView } from './processing-record.dto';
import { activitySection, gapsSection, noActivity } from './record-sections';
import { type Head, type Section, textOf } from './said';

/** What a paper about a bot says around its categories, which are read while it is sent. */
interface Paper {
  /** The fields of the JSON before `activities`. */
  readonly fields: object;
  readonly gaps: DeclarationGaps;
  readonly hasGapsInJson: boolean;
  readonly head: Head;
  before(): Section[];
  after(): Section[];
}

export type PaperFormat = 'json' | 'markdown' | 'html';

/** The format that a caller prefers; `first` where it has no preference (RFC 9110 section 12.5.1). */
export function preferred(request: LetheRequest, first: PaperFormat = 'json'): PaperFormat {
  return (request.accepts([first, 'json', 'markdown', 'html']) || first) as PaperFormat;
}

interface WantedPaper {
  readonly botId: string;
  readonly language: DocumentLanguage;
  readonly format: PaperFormat;
}

/** Sends papers about bots in every form, in portions of bounded size, for any number of categories. */
@Injectable()
export class Papers {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly categories: CategoriesService,
  ) {}

  /** The stream answers 404 when the bot is deleted. */
  send({ botId, language, format }: WantedPaper, make: (declared: Declared) => Paper): AnswerStream {
    const pieces = async function* (this: Papers, tx: Tx): AsyncGenerator<string> {
      const declared = await declaredOf(tx, botId);
      if (declared === undefined) throw notFound('Bot');
      const paper = make(declared);
      const categories = this.categories.each(tx, botId);
      if (format === 'json') yield* inJson(paper, categories);
      else yield* inDocument(paper, categories, language, FORMS[format]);
    }.bind(this);
    const writeTo = async (write: (piece: string) => Promise<void>): Promise<void> => {
      for await (const portion of inPortions(this.unitOfWork, pieces))
        for (const piece of portion) await write(piece);
    };
    if (format === 'json') return new AnswerStream(writeTo);
    const { contentType, headers } = FORMS[format];
    return new AnswerStream(writeTo, contentType, undefined, headers);
  }
}

const FORMS = { markdown: MARKDOWN, html: HTML } as const;

async function* inJson(paper: Paper, categories: AsyncIterable<Category>): AsyncGenerator<string> {
  const { fields, gaps, hasGapsInJson } = paper;
  yield `${JSON.stringify(fields).slice(0, -1)},"activities":[`;
  let separator = '';
  for await (const category of categories) {
    gaps.lookAt(category);
    yield separator + JSON.stringify(activityOf(category));
    separator = ',';
  }
  const found = (): object[] => gaps.end().map(({ task, ...gap }) => ({ task: textOf(task), ...gap }));
  yield hasGapsInJson ? `],"gaps":${JSON.stringify(found())}}` : ']}';
}

async function* inDocument(
  paper: Paper,
  categories: AsyncIterable<Category>,
  language: DocumentLanguage,
  form: (typeof FORMS)[keyof typeof FORMS],
): AsyncGenerator<string> {
  const written = (sections: readonly Section[]): string =>
    sections.map((section) => form.section(section)).join('');
  yield form.head(paper.head) + written(paper.before());
  let isEmpty = true;
  for await (const category of categories) {
    paper.gaps.lookAt(category);
    yield form.section(activitySection(language, activityOf(category)));
    isEmpty = false;
  }
  if (isEmpty) yield form.section(noActivity(language));
  yield written([...paper.after(), gapsSection(language, paper.gaps)]) + form.tail;
}

function activityOf(category: Category): ActivityView {
  const { key, labelDe, labelEn, labels, description, purposes, legalBasis, retentionDays, fields } =
    category;
  const { description_de: german, description_en: english, descriptions: further } = purposes ?? {};
  return {
    category: key,
    label_de: labelDe,
    label_en: labelEn,
    ...(labels !== null && { labels }),
    purpose: purposeIn('en', { description, ...purposes }),
    ...(german !== undefined && { purpose_de: german }),
    ...(english !== undefined && { purpose_en: english }),
    ...(further !== undefined && { purposes: further }),
    legal_basis: legalBasis,
    ...consentFree(category),
    retention_days: retentionDays,
    fields: [...fields],
  };
}
