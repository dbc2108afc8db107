import type { Config } from '@app/kernel';
import { EN, type RecordTexts } from './processing-record.texts.en';

/**
 * The technical measures of this installation in general terms (GDPR Art. 30(1)(g), 32(1)), from its settings. Measures
 * outside of the service, such as TLS or encrypted disks, have to be added by its operator.
 */
export function securityMeasures(config: Config, { measures }: RecordTexts): readonly string[] {
  const { database, nodeEnv, webhookRequireHttps, webhookAllowPrivateNetworks } = config;
  const httpsOnly =
    webhookRequireHttps === 'auto' ? nodeEnv === 'production' : webhookRequireHttps === 'true';
  const isShown: Partial<Record<keyof typeof measures, boolean>> = {
    overwritten: database.engine === 'sqlite',
    signed: !httpsOnly,
    signedOverHttps: httpsOnly,
    networks: webhookAllowPrivateNetworks !== 'true',
  };
  return (Object.keys(EN.measures) as (keyof typeof measures)[])
    .filter((name) => isShown[name] !== false)
    .map((name) => measures[name]);
}
