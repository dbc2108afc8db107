import { ConsentAcceptAct, ConsentRequestAct, ConsentRevokeAct } from '@app/consent';
import { Acts, NO_CLAIM } from '@app/acts';
import type { Acting } from '@app/http';
import type { INestApplicationContext } from '@nestjs/common';
import type { Bot } from './bot';
import type { TestDatabase } from './database';

type Given<Method extends (bot: Acting, input: never) => unknown> = Parameters<Method>[1];

const asBot = (botId: string): Acting => ({ botId, actor: 'key:sk_live_test' });

/** The acts about consents, without the HTTP edge: callers of one turn of the event loop share a unit on PostgreSQL. */
export function consentActs(app: INestApplicationContext) {
  const acts = app.get(Acts, { strict: false });
  const requesting = app.get(ConsentRequestAct, { strict: false });
  const accepting = app.get(ConsentAcceptAct, { strict: false });
  const revoking = app.get(ConsentRevokeAct, { strict: false });
  return {
    request: async (botId: string, input: Given<ConsentRequestAct['of']>) =>
      (await acts.run(requesting, requesting.of(asBot(botId), input), NO_CLAIM)).view,
    accept: (botId: string, input: Parameters<ConsentAcceptAct['decide']>[1]['input']) =>
      acts.run(accepting, { botId, input, by: asBot(botId).actor }, NO_CLAIM),
    revoke: (botId: string, input: Given<ConsentRevokeAct['of']>) =>
      acts.run(revoking, revoking.of(asBot(botId), input), NO_CLAIM),
  };
}

/** Many consents that were accepted at a time, without history or keys: only for what counts them. */
export function manyConsents(
  database: Pick<TestDatabase, 'run'>,
  { id }: Pick<Bot, 'id'>,
  count: number,
  at = '2026-03-01T00:00:00.000Z',
): Promise<void> {
  return database.run(
    `INSERT INTO consents (bot_id, guild_id, user_id, id, status, version, requested_at, accepted_at, erasing)
     WITH RECURSIVE given (place) AS (SELECT 1 UNION ALL SELECT place + 1 FROM given WHERE place < ${count})
     SELECT '${id}', 'guild' || (place % 7), 'user' || place,
       substr('${id}', 1, 24) || substr('' || (100000000000 + place), 1, 12), 'accepted', '1.0', '${at}', '${at}', 0 FROM given`,
  );
}
