import { useMemo } from 'preact/hooks';
import { useQuery } from '@tanstack/preact-query';
import { Chart, type Plot } from '../chart';
import { days } from '../times';
import { lethe } from '../service';
import { Loaded, Tile } from '../ui';
import { useOperatorWords } from './words';

const MIB = 1_048_576;
const DAY_MS = 86_400_000;
const MONTH_MS = 30 * DAY_MS;
/** A forecast of more days is none. */
const FORECAST_MAX_DAYS = 365;

/** A sample is of a day in UTC. */

type Stored = Awaited<ReturnType<typeof lethe.operator.storage>>;

/** The size of the database now, and how it has grown. */
export function StorageSection() {
  const { t } = useOperatorWords();
  const storage = useQuery({ queryKey: ['operator', 'storage'], queryFn: () => lethe.operator.storage() });
  return (
    <>
      <h2>{t('storage')}</h2>
      <Loaded from={storage}>{(found) => <Storage of={found} />}</Loaded>
    </>
  );
}

function Storage({ of: { bytes, disk, samples } }: { readonly of: Stored }) {
  const words = useOperatorWords();
  const { t, language } = words;
  const times = useMemo(() => samples.map(({ at }) => Date.parse(at) / 1000), [samples]);
  const plot = useMemo((): Plot => {
    const values = samples.map((each) => each.bytes / MIB);
    return { kind: 'lines', lines: [{ name: t('mib'), colour: 'a', values }] };
  }, [samples, language]);
  const before = samples.find(({ at }) => Date.parse(at) >= Date.now() - MONTH_MS);
  return (
    <>
      <dl class="tiles">
        <Tile name={t('size')} value={words.bytes(bytes)} />
        {disk !== null && <Tile name={t('freeOnDisk')} value={words.bytes(disk.free_bytes)} />}
        {before !== undefined && samples.length > 1 && (
          <>
            <Tile
              name={`${t('growth')} ${days(language, 'UTC').format(Date.parse(before.at))}`}
              value={words.growth(bytes - before.bytes)}
            />
            {disk !== null && <Forecast now={bytes} before={before} freeBytes={disk.free_bytes} />}
          </>
        )}
      </dl>
      {samples.length < 2 ? (
        <p class="note">{t('firstSample')}</p>
      ) : (
        <>
          <Chart title={t('growthPlot')} withHours={false} {...{ times, plot }} />
          <Samples of={samples} />
        </>
      )}
    </>
  );
}

/** In how many days the disk is full, if the database grows on as it has. */
function Forecast({
  now,
  before,
  freeBytes,
}: {
  readonly now: number;
  readonly before: Stored['samples'][number];
  readonly freeBytes: number;
}) {
  const { t, count, language } = useOperatorWords();
  const grown = now - before.bytes;
  const inDays = (freeBytes / grown) * ((Date.now() - Date.parse(before.at)) / DAY_MS);
  const words =
    grown <= 0
      ? t('forecastNever')
      : inDays > FORECAST_MAX_DAYS
        ? t('forecastFar')
        : t(Math.floor(inDays) === 1 ? 'forecastDay' : 'forecastDays', { count: count(Math.floor(inDays)) });
  return (
    <Tile
      name={t('forecastFull')}
      value={
        <span title={t('forecastNote', { day: days(language, 'UTC').format(Date.parse(before.at)) })}>
          {words}
        </span>
      }
    />
  );
}

function Samples({ of: samples }: { readonly of: Stored['samples'] }) {
  const { t, bytes, count, language } = useOperatorWords();
  const dates = days(language, 'UTC');
  return (
    <details>
      <summary>{t('growthPlot')}</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label={t('growthPlot')}>
        <table>
          <caption class="hidden">{t('growthPlot')}</caption>
          <thead>
            <tr>
              <th scope="col">{t('day')}</th>
              <th scope="col">{t('size')}</th>
              <th scope="col">{t('botCount')}</th>
              <th scope="col">{t('subjects')}</th>
            </tr>
          </thead>
          <tbody>
            {[...samples].reverse().map((sample) => (
              <tr key={sample.at}>
                <td data-title={t('day')}>{dates.format(Date.parse(sample.at))}</td>
                <td data-title={t('size')}>{bytes(sample.bytes)}</td>
                <td data-title={t('botCount')}>{count(sample.bots)}</td>
                <td data-title={t('subjects')}>{count(sample.subjects)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
