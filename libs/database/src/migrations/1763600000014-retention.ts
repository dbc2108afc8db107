import { type MigrationInterface, type QueryRunner, TableIndex, type TableIndexOptions } from 'typeorm';
import { addColumn, indexName, isPostgres, nullable, time } from '../schema';

type Indices = readonly (readonly [table: string, index: Omit<TableIndexOptions, 'name'>])[];

const ADDED: Indices = [
  ['user_data', { columnNames: ['bot_id', 'category_key', 'retention_from'] }],
  ['user_data', { columnNames: ['bot_id', 'withdrawn_at'], where: '"withdrawn_at" IS NOT NULL' }],
  [
    'servers',
    { columnNames: ['bot_id', 'deletion_scheduled_for'], where: '"deletion_scheduled_for" IS NOT NULL' },
  ],
  ['consent_history', { columnNames: ['bot_id', 'created_at'] }],
];

const REPLACED: Indices = [['user_data', { columnNames: ['bot_id', 'category_key'] }]];

/**
 * What is erased by its age is found by an index. Values from before have no `retention_from` and are looked at once, by
 * the job. Whose consent is withdrawn already has a whole period from here on, in which it is announced.
 */
export class Retention1763600000014 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await addColumn(runner, 'user_data', 'retention_from', { ...time, default: '' });
    await addColumn(runner, 'user_data', 'withdrawn_at', nullable(time));
    await addColumn(runner, 'servers', 'deletion_scheduled_for', nullable(time));
    await addColumn(runner, 'servers', 'deletion_began_at', nullable(time));
    await markWithdrawn(runner, new Date().toISOString());
    await create(runner, ADDED);
    await drop(runner, REPLACED);
  }

  async down(runner: QueryRunner): Promise<void> {
    await create(runner, REPLACED);
    await drop(runner, ADDED);
    for (const [table, column] of [
      ['servers', 'deletion_began_at'],
      ['servers', 'deletion_scheduled_for'],
      ['user_data', 'withdrawn_at'],
      ['user_data', 'retention_from'],
    ])
      await runner.query(`ALTER TABLE ${table} DROP COLUMN ${column}`);
  }
}

async function create(runner: QueryRunner, indices: Indices): Promise<void> {
  for (const [table, index] of indices) {
    const name = indexName(table, index.columnNames);
    await runner.createIndex(table, new TableIndex({ ...index, name }));
  }
}

async function drop(runner: QueryRunner, indices: Indices): Promise<void> {
  for (const [table, { columnNames }] of indices)
    await runner.dropIndex(table, indexName(table, columnNames));
}

/** Nothing is stored without a consent: what is there under none in force is there under a withdrawn one. */
async function markWithdrawn(runner: QueryRunner, at: string): Promise<void> {
  const position = isPostgres(runner) ? 'strpos' : 'instr';
  await runner.query(
    `UPDATE user_data SET withdrawn_at = ${isPostgres(runner) ? '$1' : '?'}
     WHERE EXISTS (SELECT 1 FROM categories k
         WHERE k.bot_id = user_data.bot_id AND k.key = user_data.category_key AND k.legal_basis = 'consent')
       AND EXISTS (SELECT 1 FROM consents c
         WHERE c.bot_id = user_data.bot_id AND c.guild_id = user_data.guild_id AND c.user_id = user_data.user_id
           AND (c.status <> 'accepted'
             OR ${position}(c.categories, '"' || user_data.category_key || '":"revoked"') > 0))`,
    [at],
  );
}
