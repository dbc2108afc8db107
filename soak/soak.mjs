// npm run soak: time, memory and fairness of the built service, which depend on the machine and are therefore no tests.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ENGINES } from '../bench/engines.mjs';
import { Missing, Stage } from './stage.mjs';
import { tableOf } from './table.mjs';

const FOLDER = join(import.meta.dirname, 'scenarios');
const OPTIONS = { engine: { type: 'string' }, requests: { type: 'string' } };

async function scenarios() {
  const files = readdirSync(FOLDER).sort();
  return Promise.all(files.map((file) => import(join(FOLDER, file))));
}

function readOptions(all) {
  try {
    const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
    for (const name of positionals)
      if (!all.some((each) => each.name === name)) throw new Error(`there is no scenario ${name}`);
    if (values.engine !== undefined && !(values.engine in ENGINES))
      throw new Error(`there is no engine ${values.engine}`);
    return { ...values, names: positionals };
  } catch (error) {
    const names = all.map(({ name }) => name).join(' ');
    console.error(`${error.message}\nnpm run soak -- [NAME ...] [--engine sqlite|postgres]\n${names}`);
    process.exit(2);
  }
}

const running = new Map();

/** An engine runs from the first scenario that needs it to the end. */
async function engineOf(name) {
  try {
    if (!running.has(name)) running.set(name, await ENGINES[name]());
    return running.get(name);
  } catch (error) {
    throw new Missing(`needs ${name}: ${error.message.split('\n')[0]}`);
  }
}

/** Runs a scenario, prints its table, and answers whether all figures are within their bounds. */
async function isWithin(scenario, engineName) {
  const begunMs = performance.now();
  const title = `${scenario.name} (${engineName})`;
  let stage;
  try {
    stage = new Stage(await engineOf(engineName), options);
    const rows = await scenario.run(stage);
    const seconds = ((performance.now() - begunMs) / 1000).toFixed(0);
    console.log(`\n${title}: ${scenario.shows} [${seconds} s]\n${tableOf(rows)}`);
    return rows.every(({ verdict }) => verdict !== 'over');
  } catch (error) {
    if (error instanceof Missing) {
      console.log(`\n${title}: skipped, ${error.message}`);
      return true;
    }
    console.log(`\n${title}: failed`, error);
    return false;
  } finally {
    await stage?.end();
  }
}

// Every started process ends with this one.
process.setMaxListeners(0);
const all = await scenarios();
const options = readOptions(all);
const chosen = options.names.length === 0 ? all : all.filter(({ name }) => options.names.includes(name));
if (options.names.length === 0) for (const { name, shows } of all) console.log(`${name.padEnd(14)} ${shows}`);

let isAllWithin = true;
for (const scenario of chosen) {
  const engines = scenario.engines.filter((engine) => [engine, undefined].includes(options.engine));
  if (engines.length === 0)
    console.log(`\n${scenario.name}: skipped, it needs ${scenario.engines.join(' or ')}`);
  for (const engine of engines) isAllWithin = (await isWithin(scenario, engine)) && isAllWithin;
}
for (const engine of running.values()) await engine.stop();
process.exit(isAllWithin ? 0 : 1);
