import { AsyncLocalStorage } from 'node:async_hooks';
import { ConfigError, readConfig } from '@app/kernel';
import { openTracing } from './open-tracing';
import { NO_TRACING } from './tracing';

const OBSERVER = { lost: () => undefined, unreached: () => undefined, reached: () => undefined };
const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:9';

const opened = (environment: Readonly<Record<string, string>>) =>
  openTracing(readConfig(environment), OBSERVER);

function faultsOf(environment: Readonly<Record<string, string>>): string {
  try {
    readConfig(environment);
    return '';
  } catch (error) {
    return (error as ConfigError).message;
  }
}

describe('the traces', () => {
  it.each<Readonly<Record<string, string>>>([
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'true' },
    { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' },
    { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER: 'always_off' },
    { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER: 'parentbased_always_off' },
  ])('are off and load nothing with %j', async (environment) => {
    expect(await opened(environment)).toBe(NO_TRACING);
    const work = jest.fn();
    NO_TRACING.within(undefined, work);
    expect(work).toHaveBeenCalled();
    expect(NO_TRACING.begin({ name: 'x' })).toBeUndefined();
  });

  it('record the part of OTEL_TRACES_SAMPLER_ARG', async () => {
    const tracing = await opened({
      OTEL_EXPORTER_OTLP_ENDPOINT,
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.2',
    });
    const recorded = Array.from({ length: 2_000 }, () => tracing.begin({ name: 'x' })).filter(Boolean);
    expect(recorded.length).toBeGreaterThan(250);
    expect(recorded.length).toBeLessThan(550);
  });

  it('give no work the span of work that has ended', async () => {
    const tracing = await opened({ OTEL_EXPORTER_OTLP_ENDPOINT });
    const span = tracing.begin({ name: 'x' });
    tracing.within(span, () => {
      expect(tracing.current).toBe(span);
      tracing.within(undefined, () => expect(tracing.current).toBeUndefined());
      span?.end();
      expect(tracing.current).toBeUndefined();
    });
  });
});

describe('the store of the present span', () => {
  const run = jest.spyOn(AsyncLocalStorage.prototype, 'run');
  const disable = jest.spyOn(AsyncLocalStorage.prototype, 'disable');
  beforeEach(() => jest.clearAllMocks());
  afterAll(() => jest.restoreAllMocks());

  it('is not used for work that is not recorded', async () => {
    const OTEL_TRACES_SAMPLER = 'traceidratio';
    const tracing = await opened({
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG: '0' },
    });
    await tracing.trace({ name: 'x' }, async (span) =>
      expect([span, tracing.current]).toEqual([undefined, undefined]),
    );
    expect(run).not.toHaveBeenCalled();
  });

  it('is used until the last span has ended, and again for the next one', async () => {
    const tracing = await opened({ OTEL_EXPORTER_OTLP_ENDPOINT });
    for (let time = 1; time <= 2; time++) {
      const [one, other] = [tracing.begin({ name: 'x' }), tracing.begin({ name: 'y' })];
      await tracing.within(one, async () => {
        await Promise.resolve();
        expect(tracing.current).toBe(one);
        other?.end();
        await Promise.resolve();
        expect(tracing.current).toBe(one);
        expect(disable).toHaveBeenCalledTimes(time - 1);
        one?.end();
        one?.end();
        expect(disable).toHaveBeenCalledTimes(time);
        await Promise.resolve();
        expect(tracing.current).toBeUndefined();
      });
    }
  });
});

describe('their settings', () => {
  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'ftp://collector'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:marker@collector'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'marker'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=marker%0d%0ab'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=marker%zz'],
    ['OTEL_TRACES_SAMPLER', 'marker'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.1'],
    ['OTEL_TRACES_SAMPLER_ARG', ' '],
  ])('refuse %s=%j without showing it', (name, value) => {
    const faults = faultsOf({ [name]: value });
    expect(faults).toContain(`${name} must be`);
    expect(faults).not.toContain('marker');
  });

  it('leave other variables of OpenTelemetry alone, which may be those of other programs', () => {
    expect(faultsOf({ OTEL_METRICS_EXPORTER: 'none', OTEL_PROPAGATORS: 'b3' })).toBe('');
  });

  it('read headers with percent-encoded values', () => {
    const { tracesHeaders } = readConfig({
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20x%2Cy, b=c=d,',
    });
    expect(tracesHeaders).toEqual({ authorization: 'Bearer x,y', b: 'c=d' });
  });
});
