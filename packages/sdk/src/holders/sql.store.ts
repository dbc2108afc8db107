import { chosen, type ExportedFields, listed, requireFields, requireKnown } from './exported-fields';
import { dialectOf, type SqlDatabase, type SqlDialect } from './sql-database';
import { BOT_WIDE_GUILD_ID } from '../vocabulary';
import { digestOfList, type Keeps, type Marks, type Store, type Who } from './store';

/** A table about users, and which of its columns an export has. */
export interface SqlTable extends ExportedFields {
  /** Its name as the database writes it: `users`, `public.users`. */
  readonly table: string;
  /** The column with the id of the user. */
  readonly user: string;
  /** The column with the id of the guild. NULL is the bot-wide scope. A table without the column belongs to the user everywhere. */
  readonly guild?: string;
  /** The name of the store; that of the table by default. A table with two columns of users is given twice. */
  readonly name?: string;
  readonly keeps?: Keeps;
}

/**
 * One store for each table, erased in this order: a table that refers to another one comes before it. What was erased is
 * noted in the table `lethe_holder` of the same database, which is made when it is missing.
 * @throws TypeError for an object of no known driver, and for a name that is no plain identifier
 */
export function sql(database: SqlDatabase, ...tables: readonly SqlTable[]): Store[] {
  const dialect = dialectOf(database);
  const marks = new SqlMarks(dialect);
  return tables.map((each) => ({
    name: each.name ?? each.table,
    everywhere: each.guild === undefined,
    ...(each.keeps !== undefined && { keeps: each.keeps }),
    marks,
    ...statementsOf(dialect, each),
  }));
}

function statementsOf(
  dialect: SqlDialect,
  { table, user, guild, ...fields }: SqlTable,
): Pick<Store, 'count' | 'erase' | 'export'> {
  requireFields(fields);
  const selected = fields.columns?.map((column) => dialect.quoted(column)).join(', ') ?? '*';
  const from = dialect.quoted(table);
  const userColumn = dialect.quoted(user);
  const guildColumn = guild === undefined ? undefined : dialect.quoted(guild);
  const where = (who: Who): [condition: string, ...values: string[]] => {
    const [ofUser, ...userIds] = dialect.is(userColumn, who.user_id);
    if (guildColumn === undefined || who.everyGuild === true) return [ofUser, ...userIds];
    const [ofGuild, ...guildIds] = dialect.is(guildColumn, who.guild_id);
    const inGuild =
      who.guild_id === BOT_WIDE_GUILD_ID
        ? `(${ofGuild} OR ${dialect.isZero(guildColumn)} OR ${guildColumn} IS NULL)`
        : ofGuild;
    return [`${ofUser} AND ${inGuild}`, ...userIds, ...guildIds];
  };
  const count = async (who: Who): Promise<number> => {
    const [condition, ...ids] = where(who);
    const [row] = await dialect.rows(`SELECT count(*) AS found FROM ${from} WHERE ${condition}`, ...ids);
    return Number(row?.['found']);
  };
  return {
    count,
    erase: async (who) => {
      const [condition, ...ids] = where(who);
      await dialect.run(`DELETE FROM ${from} WHERE ${condition}`, ...ids);
    },
    export: (who, room) => {
      const [condition, ...ids] = where(who);
      const list = async (most: number): Promise<unknown[]> => {
        const found = await dialect.records(
          `SELECT ${selected} FROM ${from} WHERE ${condition} LIMIT ${most}`,
          ...ids,
        );
        requireKnown(found[0], fields);
        return found.map((row) => chosen(row, fields));
      };
      return listed(who, room, list, count);
    },
  };
}

const TABLE = 'lethe_holder';
const LIST_MAX = 150;
/** Notes in a table of their own. */
class SqlMarks implements Marks {
  private hasTable = false;

  constructor(private readonly dialect: SqlDialect) {}

  /** Changes nothing: a dry run reads them too. */
  async all(list: string): Promise<ReadonlyMap<string, string>> {
    if (!(await this.isThere())) return new Map();
    const rows = await this.dialect.rows(
      `SELECT name, note FROM ${TABLE} WHERE list = ?`,
      this.fitting(list),
    );
    return new Map(rows.map(({ name, note }) => [String(name), String(note)]));
  }

  async get(list: string, name: string): Promise<string | undefined> {
    if (!(await this.isThere())) return undefined;
    const text = `SELECT note FROM ${TABLE} WHERE list = ? AND name = ?`;
    const [row] = await this.dialect.rows(text, this.fitting(list), name);
    return row && String(row['note']);
  }

  async put(list: string, name: string, note: string): Promise<void> {
    this.hasTable ||= (await this.isThere()) || (await this.made());
    try {
      await this.dialect.run(
        this.dialect.upsert(TABLE, ['list', 'name'], 'note'),
        this.fitting(list),
        name,
        note,
      );
    } catch (error) {
      // A restore may have removed it.
      this.hasTable = false;
      throw error;
    }
  }

  async remove(list: string, names: readonly string[]): Promise<void> {
    for (const name of names)
      await this.dialect.run(`DELETE FROM ${TABLE} WHERE list = ? AND name = ?`, this.fitting(list), name);
  }

  /** A key and the name of a store together may be longer than the column. */
  private fitting(list: string): string {
    return [...list].length > LIST_MAX && !this.dialect.takesAnyLength ? digestOfList(list) : list;
  }

  private async isThere(): Promise<boolean> {
    return (await this.dialect.rows(this.dialect.isTable, TABLE)).length > 0;
  }

  /** Makes the table. Two processes may do so at once, of which the second fails and finds it. */
  private async made(): Promise<boolean> {
    try {
      await this.dialect.run(
        `CREATE TABLE IF NOT EXISTS ${TABLE} (list VARCHAR(${LIST_MAX}) NOT NULL, name VARCHAR(64) NOT NULL, ` +
          'note VARCHAR(200) NOT NULL, PRIMARY KEY (list, name))',
      );
    } catch (error) {
      if (!(await this.isThere())) throw error;
    }
    return true;
  }
}
