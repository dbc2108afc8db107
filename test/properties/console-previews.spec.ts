import { USER_WORDS } from '../../apps/console/src/pages/category-words';
import { DE as DISCORD_DE } from '../../packages/discord/src/texts/de';
import { EN as DISCORD_EN } from '../../packages/discord/src/texts/en';
import { DE as PAGE_DE } from '../../libs/pages/src/texts.de';
import { EN as PAGE_EN } from '../../libs/pages/src/texts.en';

describe('the previews of the console', () => {
  it.each([
    ['de', PAGE_DE, DISCORD_DE],
    ['en', PAGE_EN, DISCORD_EN],
  ] as const)('have the words of the privacy page and of Discord: %s', (side, page, discord) => {
    const words = USER_WORDS[side];
    expect(page).toMatchObject({ ...words.page, basisOf: words.pageBasis });
    expect(discord).toMatchObject(words.discord);
  });
});
