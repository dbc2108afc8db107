import { statSync } from 'node:fs';
import { EXIT, Failure, wrongUsage } from '../failures';
import { many, plain } from '../output';
import type { Session } from '../session';
import { bytesOf, faultOf, filesBelow } from './files-below';
import { type HuntState, readState } from './hunt-state';
import { inflated } from './inflated';
import { type Hit, NeedleSearch, Scan } from './needle-search';
import { needlesOf } from './spellings';

/** The most hits of one file that are shown. */
const SHOWN_MAX = 20;

/** Looks for the people of a state, and says every place. @throws Failure where something was found or not read */
export async function search(
  session: Session,
  paths: readonly string[],
  options: { state: string },
): Promise<void> {
  if (paths.length === 0)
    throw wrongUsage(
      'Where?',
      'Name files and folders, or - for the standard input: pg_dump … | lethe hunt search -',
    );
  const state = readState(options.state);
  if (state.stage !== 'erased')
    session.output.note('The users are not erased yet: this shows where they are kept before it.');
  const hunt = new Hunt(session, state);
  const own = statSync(options.state);
  for (const path of paths) {
    if (path === '-') await hunt.look('standard input', process.stdin as AsyncIterable<Buffer>, true);
    else
      for await (const met of filesBelow(path)) {
        if ('unread' in met) hunt.leave(met.file, met.unread, met.isLink);
        else if (isSame(met.file, own))
          session.output.note(`${met.file} is the state of this hunt, and is left out.`);
        else await hunt.look(met.file, bytesOf(met.file), false);
      }
  }
  hunt.end();
}

function isSame(file: string, own: { readonly dev: number; readonly ino: number }): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return found?.dev === own.dev && found.ino === own.ino;
}

class Hunt {
  private readonly needles: NeedleSearch;
  private readonly total = { files: 0, bytes: 0, found: 0, unread: 0, links: 0 };

  constructor(
    private readonly session: Session,
    private readonly state: HuntState,
  ) {
    this.needles = new NeedleSearch(needlesOf(state.people));
  }

  async look(file: string, bytes: AsyncIterable<Buffer>, isNeverEmpty: boolean): Promise<void> {
    const name = this.scanOf(Buffer.from(file));
    const scan = new Scan(this.needles);
    let unread: string[];
    try {
      unread = await inflated(bytes, (chunk) => scan.feed(chunk));
    } catch (error) {
      unread = [faultOf(error)];
    }
    scan.end();
    this.total.files++;
    this.total.bytes += scan.bytes;
    // A program that fails before a pipe leaves it empty, which says nothing about the bot.
    if (isNeverEmpty && scan.bytes === 0) unread.push('it is empty');
    for (const hit of name.hits) this.show(file, hit, true);
    for (const hit of scan.hits.slice(0, SHOWN_MAX)) this.show(file, hit, false);
    const more = scan.hits.length - SHOWN_MAX;
    if (more > 0) this.session.output.note(`${this.masked(file)}: and ${more} more kinds of hits.`);
    this.total.found += name.hits.length + scan.hits.length;
    if (unread.length > 0) this.leave(file, unread.join('; '));
  }

  /** Something that was not read. It is said, and does not count as clean. */
  leave(file: string, why: string, isLink = false): void {
    this.total[isLink ? 'links' : 'unread']++;
    const { output } = this.session;
    const shown = this.masked(file);
    if (output.isJson) output.result({ file: shown, not_read: why }, '');
    else output.note(`${output.paint('yellow', '?')} ${shown}: ${why}.`);
  }

  end(): void {
    const { output } = this.session;
    const { files, bytes, found, unread, links } = this.total;
    const what = `${many(files, 'file')} (${bytes} bytes)`;
    if (output.isJson) output.result(this.total, '');
    if (links > 0)
      output.note(`${many(links, 'link')} not followed: name what is behind if it is of the bot.`);
    const open = unread > 0 ? ` ${unread} not read, or not whole.` : '';
    if (found > 0)
      throw new Failure(
        EXIT.refused,
        `Found ${many(found, 'trace')} of made-up users in ${what}.${open}`,
        'Each is a place where an erasure has to reach: a holder, a shorter retention, or no id at all. Mend, then plant anew.',
        'found',
      );
    if (unread > 0)
      throw new Failure(
        EXIT.usage,
        `Nothing was found in ${what}, but${open}`,
        'Unpack them, or run this as a user who may read them.',
        'not_read',
      );
    if (files === 0) throw wrongUsage('There is no file.', 'Name files, or folders that contain some.');
    if (!output.isJson)
      output.result(
        {},
        `${output.paint('green', 'Nothing')} of ${many(this.state.people.length, 'user')} in ${what}.`,
      );
  }

  private show(file: string, { needle, offset, line, before, after, times }: Hit, isName: boolean): void {
    const { output } = this.session;
    const { person, about, spelling } = needle;
    const user = this.state.people[person - 1]?.user_id ?? '';
    const context = `${this.near(before)}[${about} of ${person}]${this.near(after)}`;
    const shown = this.masked(file);
    const place = isName ? `the name ${shown}` : `${shown}${line === null ? '' : `:${line}`}, byte ${offset}`;
    output.result(
      {
        ...{ file: shown, in_name: isName, offset, line: isName ? null : line },
        ...{ person, user_id: user, about, spelling, times, context },
      },
      `${output.paint('red', '✗')} ${place}: ${about} of user ${person}, ${spelling}${times > 1 ? `, ${times} times` : ''}
    ${plain(context)}`,
    );
  }

  /** What is beside a hit, of one line and without numbers that may be ids. */
  private near(bytes: Buffer): string {
    const text = bytes.toString('utf8').replace(/[\p{C}\uFFFD]+/gu, '·');
    return this.masked(text).replace(/\d{15,}/g, '#');
  }

  private masked(text: string): string {
    return this.state.people.reduce(
      (left, { user_id: id }, at) => left.replaceAll(id, `[id of ${at + 1}]`),
      text,
    );
  }

  private scanOf(bytes: Buffer): Scan {
    const scan = new Scan(this.needles);
    scan.feed(bytes);
    scan.end();
    return scan;
  }
}
