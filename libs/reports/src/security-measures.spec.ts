import { readConfig } from '@app/kernel';
import { DE } from './processing-record.texts.de';
import { EN } from './processing-record.texts.en';
import { securityMeasures } from './security-measures';

const POSTGRES = { DATABASE_URL: 'postgres://lethe@127.0.0.1/lethe' };
const { overwritten, signed, signedOverHttps, networks } = EN.measures;
const CONDITIONAL = [overwritten, signed, signedOverHttps, networks];

describe('the security measures of an installation', () => {
  it.each<[Record<string, string>, string[]]>([
    [{}, [overwritten, signed, networks]],
    [{ WEBHOOK_REQUIRE_HTTPS: 'true' }, [overwritten, signedOverHttps, networks]],
    [{ WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' }, [overwritten, signed]],
    [POSTGRES, [signed, networks]],
  ])('are those of its settings: %j', (environment, expected) => {
    const shown = securityMeasures(readConfig(environment), EN);
    expect(shown.filter((text) => CONDITIONAL.includes(text))).toEqual(expected);
    expect(shown).toHaveLength(Object.keys(EN.measures).length - CONDITIONAL.length + expected.length);
  });

  it('have the same order in German', () => {
    expect(Object.keys(DE.measures)).toEqual(Object.keys(EN.measures));
    expect(DE.document.columns).toHaveLength(EN.document.columns.length);
  });
});
