import { type Config, type EgressPolicy, requiresHttps } from '@app/kernel';
import { EN, type DocumentTexts } from './documents.texts.en';

type Measures = DocumentTexts['record']['measures'];

/**
 * The technical measures of this installation in general terms (GDPR Art. 30(1)(g), 32(1)), from its settings. Measures
 * outside of the service, such as TLS or encrypted disks, have to be added by its operator.
 */
export function securityMeasures(
  config: Config,
  egress: Pick<EgressPolicy, 'allowsAddress'>,
  measures: Measures,
  storesWithoutConsent: boolean,
): readonly string[] {
  const { database } = config;
  const httpsOnly = requiresHttps(config);
  const [isLocalAllowed, isPrivateAllowed] = ['127.0.0.1', '10.0.0.1'].map((one) =>
    egress.allowsAddress(one),
  );
  const isShown: Partial<Record<keyof Measures, boolean>> = {
    consent: !storesWithoutConsent,
    consentUnlessNamed: storesWithoutConsent,
    overwritten: database.engine === 'sqlite',
    signed: !httpsOnly,
    signedOverHttps: httpsOnly,
    networks: isLocalAllowed === false,
    networksButOwn: isLocalAllowed === true && isPrivateAllowed === false,
  };
  const names = Object.keys(EN.record.measures) as (keyof Measures)[];
  return names.filter((name) => isShown[name] !== false).map((name) => measures[name]);
}
