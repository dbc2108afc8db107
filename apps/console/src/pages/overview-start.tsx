import { useQuery } from '@tanstack/preact-query';
import { Link } from 'wouter-preact';
import { useCopied } from '../copied';
import { useWords } from '../language';
import { useBot, useCategories } from '../queries';
import { lethe } from '../service';
import { useAllowed } from '../session';
import type { TextName } from '../texts';

interface Step {
  readonly name: TextName;
  readonly note: TextName;
  readonly link: TextName;
  readonly path: string;
  readonly code: (botId: string) => string;
}

const API = `${location.origin}/api/v1`;
const call = (method: 'POST' | 'PUT', path: string, body: string): string =>
  `curl -X ${method} ${API}${path} \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '${body}'`;

const CATEGORY = `{
    "key": "birthday", "label_en": "Birthday", "label_de": "Geburtstag",
    "description_en": "To congratulate you", "description_de": "Um dir zu gratulieren",
    "legal_basis": "consent", "retention_days": 365,
    "fields": [{ "key": "day", "type": "string", "label_en": "Day", "label_de": "Tag" }]
  }`;
const WHO = `{ "user_id": "123456789012345678", "guild_id": "223456789012345678", "consent_version": "1.0" }`;

const CATEGORY_STEP: Step = {
  name: 'stepCategory',
  note: 'stepCategoryNote',
  link: 'stepCategoryLink',
  path: '/categories',
  code: () => call('POST', '/data/register', CATEGORY),
};
const ASK_STEP: Step = {
  name: 'stepAsk',
  note: 'stepAskNote',
  link: 'stepAskLink',
  path: '/users',
  code: () => [call('POST', '/consents/request', WHO), call('POST', '/consents/accept', WHO)].join('\n'),
};
const WEBHOOK_STEP: Step = {
  name: 'stepWebhook',
  note: 'stepWebhookNote',
  link: 'stepWebhookLink',
  path: '/settings',
  code: (botId) => call('PUT', `/bots/${botId}`, `{ "webhook_url": "https://bot.example/lethe" }`),
};

/** Whether a user was ever asked, as far back as the numbers are kept. */
function useHasAsked(isOf: boolean) {
  const from = new Date(Date.now() - 399 * 86_400_000).toISOString().slice(0, 10);
  return useQuery({
    queryKey: ['has-asked', from],
    enabled: isOf,
    queryFn: async () =>
      (await lethe.stats({ from })).buckets.some(
        ({ counts: { consent_requested, consent_accepted } }) => consent_requested + consent_accepted > 0,
      ),
  });
}

/** What to do first with a new bot, each with its code. It disappears when all of it is done. */
export function FirstSteps() {
  const { t } = useWords();
  const isReader = useAllowed('read');
  const { data: bot } = useBot();
  const { data: categories } = useCategories();
  const { data: hasAsked } = useHasAsked(isReader);
  if (bot === undefined || categories === undefined || hasAsked === undefined) return null;
  const steps = [
    { step: CATEGORY_STEP, isDone: categories.length > 0 },
    { step: ASK_STEP, isDone: hasAsked },
    { step: WEBHOOK_STEP, isDone: bot.webhook_url !== null },
  ];
  const done = steps.filter(({ isDone }) => isDone).length;
  if (done === steps.length) return null;
  const next = steps.find(({ isDone }) => !isDone)?.step;
  return (
    <section class="first-steps" aria-labelledby="first-steps">
      <div class="head">
        <h2 id="first-steps">{t('firstSteps')}</h2>
        <span class="small">{t('firstStepsDone', { done, all: steps.length })}</span>
      </div>
      {done === 0 && <p class="small">{t('firstStepsLead')}</p>}
      <ol>
        {steps.map(({ step, isDone }) => (
          <li key={step.name} class={isDone ? 'done' : undefined}>
            <details open={step === next}>
              <summary>
                <span class="tick" aria-hidden="true">
                  {isDone && '✓'}
                </span>
                {isDone && <span class="hidden">{t('stepDone')}: </span>}
                {t(step.name)}
              </summary>
              <p class="small">
                {t(step.note)} <Link href={step.path}>{t(step.link)}</Link>
              </p>
              <Snippet code={step.code(bot.id)} />
            </details>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Snippet({ code }: { readonly code: string }) {
  const { t } = useWords();
  const [isCopied, copy] = useCopied(code);
  return (
    <div class="snippet">
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
      {copy && (
        <button type="button" aria-label={isCopied ? undefined : t('copyCode')} onClick={copy}>
          {t(isCopied ? 'copied' : 'copy')}
        </button>
      )}
    </div>
  );
}
