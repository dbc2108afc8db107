import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import fc from '../../../test/support/fast-check';
import { canRun } from '../../../test/support/programs';
import { maskOf, placesOf } from './custom-id';
import { cut, pagesOf } from './reply';

// What the two languages could count differently: Python counts characters, Discord and JavaScript UTF-16 units.

/** Debian's, with python3-discord. */
const PYTHON = '/usr/bin/python3';
const SOURCE = join(__dirname, '../../../clients/python/src');
const describeWithDiscordPy = canRun(PYTHON, ['-c', 'import discord, httpx']) ? describe : describe.skip;

describeWithDiscordPy('the pages, labels and ids of lethe_discord', () => {
  it('are those of @lethe/discord, for any text', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', ' ', '\n', 'ß', '🎂', '"', '\u0001', '\u2028'),
      maxLength: 9_000,
      size: 'max',
    });
    const texts = fc.sample(text, 40);
    const selections = fc.sample(fc.uniqueArray(fc.integer({ min: 0, max: 49 }), { maxLength: 50 }), 40);
    const program = `
import json, sys
from lethe_discord import _custom_id, _reply
texts, selections = json.load(sys.stdin)
json.dump({
    "pages": [_reply.pages_of(one) for one in texts],
    "labels": [_reply.cut(one, 100) for one in texts],
    "json": [json.dumps(one, ensure_ascii=False) for one in texts],
    "masks": [_custom_id.mask_of(one) for one in selections],
    "places": [_custom_id.places_of(_custom_id.mask_of(one), 50) for one in selections],
}, sys.stdout)
`;
    const input = JSON.stringify([texts, selections]);
    const env = { PYTHONPATH: SOURCE, PYTHONDONTWRITEBYTECODE: '1' };
    const said = execFileSync(PYTHON, ['-c', program], { input, env, maxBuffer: 2 ** 26 });
    const masks = selections.map(maskOf);
    expect(JSON.parse(said.toString())).toEqual({
      pages: texts.map(pagesOf),
      labels: texts.map((one) => cut(one, 100)),
      json: texts.map((one) => JSON.stringify(one)),
      masks,
      places: masks.map((mask) => placesOf(mask, 50)),
    });
  });
});
