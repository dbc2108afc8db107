import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verified } from '@lethe/cli/statements';
import { BOT_WIDE_GUILD_ID } from '@lethe/sdk';
import { type AuditProof, verifyAuditExport } from '@lethe/sdk/evidence';
import { verifiedBatches } from '@lethe/sdk/evidence/web';
import { checkLog } from '../../apps/console/src/pages/audit-check';
import { examine } from '../../apps/console/src/verify/examine';
import { holderSentences, sentenceOf, signedIn } from '../../apps/console/src/verify/sentence';
import { SigningService } from '../support/final-certificates';
import { runsPython, usePython } from '../support/python-verifier';
import { SignedLog, type Told } from '../support/signed-log';

// What `lethe verify` and the page /verify say of evidence that holds.

const UNNAMED = { salt: '', userId: '', guildId: '' };
const USER = '1'.repeat(18);
const GUILD = '2'.repeat(18);
const signing = new SigningService();
const log = new SignedLog(signing);
const { keySet } = signing;
const verifier = usePython();
const folder = mkdtempSync(join(tmpdir(), 'lethe-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function cliSays(content: string): Promise<string> {
  const file = join(folder, 'evidence');
  writeFileSync(file, content);
  return (await verified(file, keySet, {})).sentence;
}

const found = (content: string) => examine(content, JSON.stringify(keySet), UNNAMED);

async function allSay(told: Told): Promise<readonly [cli: string, english: string, german: string]> {
  const content = JSON.stringify(log.proof(told));
  const finding = await found(content);
  return [await cliSays(content), sentenceOf('en', finding), sentenceOf('de', finding)];
}

describe('the sentence about a proof', () => {
  it.each([
    [
      'data_deleted',
      'objection',
      'an objection to processing was recorded',
      'Widerspruch gegen die Verarbeitung vermerkt',
    ],
    [
      'consent_revoked',
      'restriction',
      'a restriction of processing was recorded',
      'Einschränkung der Verarbeitung vermerkt',
    ],
    [
      'consent_accepted',
      'restriction_ended',
      'a restriction of processing was ended',
      'Einschränkung der Verarbeitung aufgehoben',
    ],
  ])('of the type %s says the act %s of its details', async (type, act, english, german) => {
    const [cli, page, seite] = await allSay({ type, details: { act, category: 'profile' } });
    expect(cli).toContain(`UTC ${english} about user ${USER} in guild ${GUILD}.`);
    expect(page).toContain(`UTC, as Lethe wrote, ${english} (the user ${USER} on the server ${GUILD}).`);
    expect(seite).toContain(`: ${german} (Nutzer ${USER} auf dem Server ${GUILD}), am 20. November 2026`);
    expect(seite).toContain(', eingetragen von Lethe.');
    expect(cli + page + seite).not.toMatch(/consent was|Einwilligung|data was|Daten gelöscht|[{}]|undefined/);
  });

  it('claims no consent where the parts are not shown and the type has several acts', async () => {
    const [cli, page, seite] = await allSay({ type: 'consent_accepted', erased: true });
    const acts = 'a consent was given, or a restriction of processing was ended';
    expect(cli).toContain(`${acts} about a user whom the proof does not name.`);
    expect(page).toContain(`${acts} (a user whom the proof does not name).`);
    expect(seite).toContain(
      'Einwilligung erteilt oder Einschränkung der Verarbeitung aufgehoben (ein Nutzer, den der Nachweis nicht nennt)',
    );
    expect((await allSay({ type: 'data_submitted', erased: true }))[0]).toContain(
      ' data was stored about a user',
    );
  });

  it('is the same whether the event says that its user was erased, which nothing covers', async () => {
    const proof = log.proof({ type: 'data_submitted' });
    const says = async (erased: boolean, parts: AuditProof['event']['parts']) => {
      const content = JSON.stringify({ ...proof, event: { ...proof.event, erased, parts } });
      const finding = await found(content);
      return [finding, sentenceOf('en', finding), sentenceOf('de', finding), await cliSays(content)];
    };
    for (const parts of [null, proof.event.parts])
      expect(await says(true, parts)).toEqual(await says(false, parts));
  });

  it.each(['client', 'another'])(
    'says that the bot wrote what has the source %s, whose acts are its own',
    async (source) => {
      const [cli, page, seite] = await allSay({
        type: 'deletion_completed',
        source,
        details: { act: 'objection' },
      });
      expect(cli).toContain(', as the bot itself wrote, an erasure was completed about user');
      expect(page).toContain(', as the bot itself wrote, an erasure was completed (the user');
      expect(seite).toMatch(/: Löschung abgeschlossen \(Nutzer .*, eingetragen vom Bot selbst\.$/);
    },
  );

  it('names the bot-wide scope in words, and an act that is newer as it is', async () => {
    const told = { type: 'consent_accepted', guild: BOT_WIDE_GUILD_ID, details: { act: 'toString' } };
    const [cli, page, seite] = await allSay(told);
    expect(cli).toContain(`UTC toString about user ${USER} in the bot-wide scope.`);
    expect(page).toContain(`toString (the user ${USER} in direct messages).`);
    expect(seite).toContain(`toString (Nutzer ${USER} in Direktnachrichten)`);
  });

  it('stands beside the event and the checkpoint, without what no hash covers', async () => {
    const proof = log.proof({ type: 'consent_accepted' });
    const forged = { ...proof.event, note: 'forged', parts: { ...proof.event.parts, more: 'forged' } };
    const finding = await found(JSON.stringify({ ...proof, event: forged } satisfies AuditProof));
    if (finding.result !== 'holds') throw new Error('it does not hold');
    const { erased: _, ...event } = proof.event;
    expect(signedIn(finding)).toEqual({ event, checkpoint: finding.statement });
  });
});

describe('the sentence about an audit log', () => {
  const told = [{ type: 'data_submitted' }, { type: 'data_deleted' }];
  const whole = log.exported(told);
  const part = log.exported(told, 39);
  const behindTheEnd = log.exported([], 39);
  const pruned = log.exported(told, 39, 39);

  it('says "complete" only where the beginning is proved, and names a pruning', async () => {
    const counts = ': 2 events about its users in 1 batches, 0 of them marked as about erased users.';
    expect(await cliSays(whole)).toMatch(
      /^The audit log of the bot .* UTC is complete and unchanged: 2 events/,
    );
    expect(await cliSays(whole)).not.toContain('pruned');
    expect(await cliSays(pruned)).toContain(
      `is complete and unchanged${counts} Its first 39 batches were pruned, as the service has signed.`,
    );
    for (const export_ of [part, behindTheEnd, log.exported(told, 39, 38)]) {
      const said = await cliSays(export_);
      expect(said).toMatch(
        /^The part of the audit log of the bot .* behind batch 39 is unchanged; what was before it does not show: [02] events/,
      );
      expect(said).not.toContain('complete');
    }
  });

  it('has its beginning in what the verifiers answer', async () => {
    const expected = [
      [whole, 0, true],
      [part, 39, false],
      [behindTheEnd, 39, false],
      [log.exported(told, 39, 38), 39, false],
      [pruned, 39, true],
    ] as const;
    for (const [content, after, isWhole] of expected) {
      expect(await verifyAuditExport(content.split('\n'), keySet)).toMatchObject({ after, isWhole });
      const batches = verifiedBatches(content.split('\n'), keySet);
      let step = await batches.next();
      while (step.done !== true) step = await batches.next();
      expect(step.value).toMatchObject({ after, isWhole });
      if (!runsPython) continue;
      const { text } = await verifier.run('audit', content, keySet);
      expect(text).toContain(`"after": ${after},\n  "is_whole": ${isWhole},`);
    }
  });

  it('is refused by the console, which has asked for the whole log, without its beginning', async () => {
    const check = (content: string) =>
      checkLog(signing.subject.botId, linesOf(content), keySet, { events: [], filter: {} }, () => undefined);
    expect(await check(pruned)).toMatchObject({ result: 'holds', events: 2 });
    expect(await check(part)).toMatchObject({
      result: 'fails',
      reason: 'the export lacks the beginning of the log',
    });
  });
});

async function* linesOf(content: string): AsyncGenerator<string, void, undefined> {
  for (const line of content.split('\n')) yield await Promise.resolve(line);
}

describe('the sentence about an answer of a holder', () => {
  it('begins with its key, and has its label and its reason as quotations that the bot cannot end', async () => {
    const forged = 'Billing" (billing) erased. “X” „Y“\u202e';
    const final = signing.final();
    const holders = final.holders.map((holder) => ({ ...holder, label_en: forged, label_de: forged }));
    const content = signing.signs({ ...final, holders }, 'final');
    expect(await cliSays(content)).toContain(
      `cache (${JSON.stringify(forged)}) had nothing about the user, as Lethe received it`,
    );
    const finding = await found(content);
    const inner = "Billing' (billing) erased. 'X' 'Y' ";
    expect(holderSentences('en', finding)[0]).toMatch(
      new RegExp(`^cache \\(“${escaped(inner)}”\\): had nothing`),
    );
    expect(holderSentences('de', finding)[0]).toMatch(
      new RegExp(`^cache \\(„${escaped(inner)}“\\): keine Daten`),
    );
    expect(holderSentences('en', finding)[2]).toContain('because: “Section 147 AO” (“invoices”)');
    expect(holderSentences('de', finding)[2]).toContain('Grund: „Section 147 AO“ („invoices“)');
  });
});

const escaped = (text: string): string => text.replace(/[()."]/g, '\\$&');
