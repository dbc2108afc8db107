import { randomUUID } from 'node:crypto';
import { lstat, mkdir, open, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { filesWithin } from './exported-files';
import { literal } from './literal';
import { digestOfList, isLastOf, type Keeps, type Marks, type Store, type Who } from './store';

export interface FilesOptions {
  /** The name of the store; that of the folder by default. */
  readonly name?: string;
  readonly keeps?: Keeps;
}

/** The files or folders of a user, relative to the folder of the store. */
export type NameOf = (who: Who) => string | readonly string[];

const MARKS = '.lethe-holder';
/** An id, and others of which the last digit, the first, or the one in the middle differs. */
const USER = '123456789012345678';
const OTHERS = ['123456789012345679', '223456789012345678', '123456780012345678'];

/**
 * Files of users below `folder`, which the bot makes. `nameOf` answers the same names for the same ids. Those that do not depend on the
 * guild belong to the user everywhere. No name and no link leads out of the folder.
 * @throws TypeError for a name that does not depend on the whole id of the user
 */
export function files(folder: string, nameOf: NameOf, { name, keeps }: FilesOptions = {}): Store {
  const top = resolve(folder);
  const named = (user_id: string, guild_id = USER): string[] => [nameOf({ user_id, guild_id })].flat();
  const own = named(USER);
  if (OTHERS.some((id) => named(id).some((one) => own.includes(one))))
    throw new TypeError(
      'Each name of a file must depend on the whole user_id, or the files of other users are erased.',
    );
  /** Those of the names that are the same in other guilds. */
  const withoutGuild = (names: readonly string[], user_id: string, guild_id: string): string[] => {
    const others = OTHERS.filter((id) => id !== guild_id).map((id) => named(user_id, id));
    return names.filter((name) => others.every((all) => all.includes(name)));
  };
  const ofNoGuild = withoutGuild(own, USER, USER);
  const everywhere = ofNoGuild.length === own.length || (ofNoGuild.length > 0 && 'partly');
  /** The parts of each name, around a guild, whichever it is. */
  const aroundGuild = (who: Who, guild_id: string): string[][][] =>
    [nameOf({ ...who, guild_id })]
      .flat()
      .map((name) => relative(top, resolve(top, name)).split(sep))
      .map((parts) => parts.map((part) => part.split(guild_id)));
  const inEveryGuild = async (who: Who): Promise<string[]> => {
    const ids = OTHERS.filter((id) => !who.user_id.includes(id));
    const [names = [], ...same] = ids.map((id) => aroundGuild(who, id));
    if (same.some((each) => !isDeepStrictEqual(each, names)) || names.flat().some(isLoose))
      throw new TypeError(
        'A name has its guild in another form or beside a digit: answer the names of all guilds where everyGuild is true.',
      );
    const ofGuilds = names.filter((parts) => parts.some((texts) => texts.length > 1));
    return (await Promise.all(ofGuilds.map((parts) => namesLike(top, parts)))).flat();
  };
  const paths = async (who: Who, isLast = who.isLast !== false): Promise<string[]> => {
    const own = [nameOf(who)].flat();
    const names = who.everyGuild === true ? [...own, ...(await inEveryGuild(who))] : own;
    const left = isLast ? [] : withoutGuild(names, who.user_id, who.guild_id);
    const meant = names.filter((each) => !left.includes(each));
    const all = await Promise.all(meant.map((each) => pathWithin(top, each)));
    return [...new Set(all)].filter((path) => path !== undefined);
  };
  return {
    name: name ?? basename(top),
    everywhere,
    ...(keeps !== undefined && { keeps }),
    marks: new FileMarks(top),
    count: async (who) => (await paths(who, isLastOf(everywhere, who))).length,
    erase: async (who) => {
      for (const path of await paths(who, isLastOf(everywhere, who))) {
        // A link is removed, and not what it leads to. What the bot has removed meanwhile is done: the second look proves it.
        await rm(path, { recursive: true, force: true }).catch((error: unknown) =>
          requireAbsence(error, top),
        );
        await synced(dirname(path));
      }
    },
    export: async (who, room) => filesWithin(top, await paths(who), room),
  };
}

/** Whether a digit is beside the guild, by which the file of one user would be taken for that of another. */
const isLoose = (texts: readonly string[]): boolean =>
  texts.slice(1).some((text) => /^\d/.test(text)) || texts.slice(0, -1).some((text) => /\d$/.test(text));

/** The names that are there, with digits in the place of the guild. */
async function namesLike(top: string, parts: readonly (readonly string[])[]): Promise<string[]> {
  let found = [''];
  for (const texts of parts) {
    const wanted = new RegExp(`^${literal(texts, '\\d+')}$`);
    const within = async (folder: string): Promise<string[]> =>
      texts.length === 1
        ? [join(folder, ...texts)]
        : (await namesIn(join(top, folder), top))
            .filter((name) => wanted.test(name))
            .map((name) => join(folder, name));
    found = (await Promise.all(found.map(within))).flat();
  }
  return found;
}

/** What a folder has; nothing where it is missing. */
async function namesIn(folder: string, top: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    await requireAbsence(error, top);
    return [];
  }
}

/** The path of a name, undefined where there is nothing. @throws RangeError for one outside of the folder */
async function pathWithin(top: string, name: string): Promise<string | undefined> {
  const path = resolve(top, name);
  if (!path.startsWith(top + sep) || name.includes('\0') || path.startsWith(join(top, MARKS)))
    throw new RangeError('A name of a file leads out of its folder, or to the notes of the store.');
  try {
    const [real, realTop] = [await realpath(dirname(path)), await realpath(top)];
    if (real !== realTop && !real.startsWith(realTop + sep))
      throw new RangeError('A link leads out of the folder of the store.');
    await lstat(path);
    return path;
  } catch (error) {
    await requireAbsence(error, top);
    return undefined;
  }
}

/**
 * A folder that is not there at all is a disk that is not mounted, or has another name: that is no absence of files.
 * @throws what was given where it says something else, and ENOENT where `top` is missing
 */
async function requireAbsence(error: unknown, top: string): Promise<void> {
  if (!['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
  await stat(top);
}

/** Makes a folder where it is missing, and none above it. */
async function made(folder: string): Promise<void> {
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

/** Makes the change of a folder durable, where the system can. */
async function synced(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

/** Notes in files, one for each: replaced as a whole. */
class FileMarks implements Marks {
  private readonly folder: string;

  constructor(private readonly top: string) {
    this.folder = join(top, MARKS);
  }

  async all(list: string): Promise<ReadonlyMap<string, string>> {
    const names = await namesIn(this.of(list), this.top);
    const notes = new Map<string, string>();
    for (const name of names.filter((each) => !each.startsWith('.'))) {
      const note = await this.get(list, name);
      // Another process has removed it since.
      if (note !== undefined) notes.set(name, note);
    }
    return notes;
  }

  async get(list: string, name: string): Promise<string | undefined> {
    try {
      return await readFile(join(this.of(list), name), 'utf8');
    } catch (error) {
      await requireAbsence(error, this.top);
      return undefined;
    }
  }

  async put(list: string, name: string, note: string): Promise<void> {
    const folder = this.of(list);
    await made(this.folder);
    await made(folder);
    const before = join(folder, `.${randomUUID()}`);
    const handle = await open(before, 'w');
    await handle.writeFile(note);
    await handle.sync();
    await handle.close();
    await rename(before, join(folder, name));
    await synced(folder);
  }

  async remove(list: string, names: readonly string[]): Promise<void> {
    for (const name of names) await rm(join(this.of(list), name), { force: true });
  }

  /** A folder for each list, whose name may have any characters. */
  private of(list: string): string {
    return join(this.folder, digestOfList(list));
  }
}
