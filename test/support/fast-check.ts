import fc from 'fast-check';
import { seedOfSuite } from './chance';

fc.configureGlobal({ seed: seedOfSuite() });

/** fast-check with the seed of {@link seedOfSuite}. The report of a failure names it. */
export default fc;
