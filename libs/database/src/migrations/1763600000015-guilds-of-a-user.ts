import { type MigrationInterface, type QueryRunner, TableIndex } from 'typeorm';
import { indexName } from '../schema';

const OF_USER = ['bot_id', 'user_id', 'guild_id'];

/** In which guilds of a bot something is held of one user. */
export class GuildsOfAUser1763600000015 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const name = indexName('consents', OF_USER);
    await runner.createIndex('consents', new TableIndex({ name, columnNames: OF_USER }));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropIndex('consents', indexName('consents', OF_USER));
  }
}
