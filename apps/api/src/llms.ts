/** The path of a guide from the place where the text is served; undefined leaves it out. */
type PathOf = (file: string) => string | undefined;

/**
 * `llms.txt` (llmstxt.org): what Lethe is and where its guides are, for programs that read them. It is made of docs/README.md, the
 * list of the guides with a sentence for each.
 */
export function llmsText(index: string, api: readonly string[], pathOf: PathOf): string {
  const topics = index
    .split(/^(?=For .+:$)/m)
    .slice(1)
    .flatMap((topic) => {
      const guides = topic.split('\n').flatMap((line) => entryOf(line, pathOf) ?? []);
      return guides.length === 0 ? [] : [`## ${topic.slice(0, topic.indexOf(':'))}`, guides.join('\n')];
    });
  return `${['# Lethe', ABOUT, '## API', api.join('\n'), ...topics].join('\n\n')}\n`;
}

const ABOUT = `> Self-hosted GDPR service for developers of bots: consent, user data, export, erasure with certificates, and an audit log
> that can be verified. A bot calls it over HTTP with an API key, and Lethe calls the bot by signed webhooks.`;

/** An entry of the list; undefined for any other line, and for a guide that is not served. */
function entryOf(line: string, pathOf: PathOf): string | undefined {
  // A second link is the same guide in German.
  const [, name = '', file = '', sentence] =
    /^- \[([^\]]+)\]\(([^)]+)\)(?:, \[[^)]+\))?: (.+)$/.exec(line) ?? [];
  const path = sentence === undefined ? undefined : pathOf(file);
  return path && `- [${name.replace(/^(\.\.\/)+|\.md$|\/$/g, '')}](${path}): ${sentence}`;
}
