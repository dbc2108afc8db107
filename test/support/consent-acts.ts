import { ConsentAcceptAct, ConsentRequestAct, ConsentRevokeAct } from '@app/consent';
import { Acts, NO_CLAIM } from '@app/acts';
import type { Acting } from '@app/http';
import type { INestApplicationContext } from '@nestjs/common';

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
