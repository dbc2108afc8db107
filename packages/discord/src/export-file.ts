import { NotFoundError } from '@lethe/sdk';
import { readableCopy } from './page';
import { PATIENT } from './patient';
import { type Reply, reply } from './reply';
import { type Turn, type Where, whomToAsk } from './turn';

/** What Discord takes from every bot. */
const FILE_MAX_BYTES = 10 * 1024 * 1024;
/** Of a request with a file: its other parts, the boundaries, the message. */
const REST_BYTES = 16 * 1024;

/** Everything stored about the user as a file (GDPR Art. 15 and 20). A file is whole or not sent. */
export async function exportFile(turn: Turn, where: Where): Promise<Reply> {
  const { asked, words } = turn;
  const maxBytes = (asked.fileMaxBytes ?? FILE_MAX_BYTES) - REST_BYTES;
  try {
    for (const format of ['full', undefined] as const) {
      const data = await exported(turn, where, format, maxBytes);
      if (data === undefined) continue;
      const has = (await turn.facts.hasOwnStores()) !== false;
      const whole = has ? 'export_done_own_stores' : 'export_done';
      const done = words.say(format === 'full' ? whole : 'export_short');
      const content = [done, ...(await missingPart(turn, data))].join('\n');
      const files = [{ name: 'privacy-export.json', data }];
      return withCopy(turn, where, reply({ content, files }));
    }
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    if ((await turn.facts.hasOwnStores()) === false) return reply({ content: words.say('export_nothing') });
    return reply({ content: `${words.say('export_nothing_own_stores')} ${await whomToAsk(turn)}` });
  }
  const ask = await whomToAsk(turn);
  return withCopy(turn, where, reply({ content: `${words.say('export_too_large')} ${ask}` }));
}

interface Holding {
  readonly holders?: readonly { readonly state: string }[];
}

/** What is said of the bot's own stores that owe their part: a full export asks them, and does not wait for their answers. */
async function missingPart(turn: Turn, data: Uint8Array): Promise<string[]> {
  const { say } = turn.words;
  const { guilds = [], ...one } = JSON.parse(new TextDecoder().decode(data)) as Holding & {
    guilds?: Holding[];
  };
  const states = [one, ...guilds].flatMap(({ holders = [] }) => holders.map(({ state }) => state));
  return [
    ...(states.includes('asked') ? [say('export_asked')] : []),
    ...(states.includes('overdue') ? [`${say('export_overdue')} ${await whomToAsk(turn)}`] : []),
    ...(states.includes('not_asked') ? [say('export_not_asked')] : []),
  ];
}

/** The message, with the way to the copy that people read. */
async function withCopy(turn: Turn, where: Where, message: Reply): Promise<Reply> {
  const copy = await readableCopy(turn, where);
  if (copy === undefined) return message;
  return { ...message, content: `${message.content}\n${copy.content}`, components: copy.components };
}

/** The file, or undefined if it is larger than `maxBytes`. No more than that is kept in memory. */
async function exported(
  { lethe, who }: Turn,
  where: Where,
  format: 'full' | undefined,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const given = { ...(where === 'here' ? who : { user_id: who.user_id }), ...(format && { format }) };
  const reader = (await lethe.data.exportStream(given, PATIENT)).getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(chunks).arrayBuffer());
    length += value.length;
    if (length > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    chunks.push(value);
  }
}
