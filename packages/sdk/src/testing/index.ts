export { FakeLethe, type FakeOptions } from './fake-lethe';
export * from './signed-call';
