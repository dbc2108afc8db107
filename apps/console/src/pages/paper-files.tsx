import { useMutation } from '@tanstack/preact-query';
import { Link, useLocation } from 'wouter-preact';
import { download } from '../download';
import { useWords } from '../language';
import { Fault } from '../ui';
import './reports.css';

/** The forms of a paper, with the end of their names. */
const FORMS = { html: 'HTML', markdown: 'Markdown', json: 'JSON' } as const;
const ENDS = { html: 'html', markdown: 'md', json: 'json' } as const;
const TYPES = { html: 'text/html', markdown: 'text/markdown', json: 'application/json' } as const;

interface Given {
  /** The paper as it is shown. */
  readonly of: object;
  /** The name of its files, without an end. */
  readonly name: string;
  readonly text: (asked: {
    readonly format: 'html' | 'markdown';
    readonly language: 'de' | 'en';
  }) => Promise<string>;
}

/** Prints a paper, or gives it as a file in the language of the page. */
export function PaperFiles({ of, name, text }: Given) {
  const { t, language } = useWords();
  const file = useMutation({
    mutationFn: async (format: keyof typeof FORMS) => {
      const content = format === 'json' ? JSON.stringify(of, undefined, 2) : await text({ format, language });
      download(`${name}.${ENDS[format]}`, new Blob([content], { type: TYPES[format] }));
    },
  });
  return (
    <div class="screen">
      <div class="actions">
        <button type="button" onClick={() => print()}>
          {t('print')}
        </button>
        {(Object.keys(FORMS) as (keyof typeof FORMS)[]).map((format) => (
          <button key={format} type="button" disabled={file.isPending} onClick={() => file.mutate(format)}>
            {t('recordDownload', { form: FORMS[format] })}
          </button>
        ))}
      </div>
      <Fault error={file.error} />
    </div>
  );
}

const PAPERS = { '/reports': 'paperRecord', '/dossier': 'paperDossier' } as const;

/** The way from one paper to the other. */
export function PaperChoice() {
  const { t } = useWords();
  const [location] = useLocation();
  return (
    <nav class="papers screen" aria-label={t('papers')}>
      {Object.entries(PAPERS).map(([path, name]) => (
        <Link key={path} href={path} aria-current={path === location ? 'page' : undefined}>
          {t(name)}
        </Link>
      ))}
    </nav>
  );
}
