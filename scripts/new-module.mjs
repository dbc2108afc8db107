// Writes the files of a module: npm run new:module -- reminders [--one reminder] [--prefix acme]
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
/** The module that the tests execute, and every new module begins as. */
const EXAMPLE = 'test/repository/add-a-module';
const EXAMPLE_TIME = '1763700000001';
const EVENT_TYPE_MAX_LENGTH = 32;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { one: { type: 'string' }, prefix: { type: 'string', default: 'acme' } },
});
const [many = ''] = positionals;
const one = values.one ?? many.replace(/s$/, '');
const { prefix } = values;

refuseUnusable();

const time = String(Date.now());
const folder = `libs/${many}`;
const capital = (word) => word[0].toUpperCase() + word.slice(1);

/** The words of the example as those of the new module. */
function renamed(text) {
  return text
    .replaceAll(EXAMPLE_TIME, time)
    .replaceAll('REMINDER', one.toUpperCase())
    .replaceAll('Reminders', capital(many))
    .replaceAll('reminders', many)
    .replaceAll('Reminder', capital(one))
    .replaceAll('reminder', one)
    .replaceAll('acme', prefix);
}

for (const name of readdirSync(join(ROOT, EXAMPLE))) {
  const isMigration = name.startsWith(EXAMPLE_TIME);
  const text = renamed(readFileSync(join(ROOT, EXAMPLE, name), 'utf8'));
  await write(
    `${folder}/src/${isMigration ? 'migrations/' : ''}${renamed(name)}`,
    text.replace(`'./${time}-`, `'./migrations/${time}-`),
  );
}
await write(`${folder}/src/index.ts`, `export { ${capital(many)}Module } from './${many}.module';\n`);
await write(`${folder}/src/${many}.spec.ts`, spec());
await write(
  `${folder}/tsconfig.lib.json`,
  readFileSync(join(ROOT, 'libs/audit/tsconfig.lib.json'), 'utf8').replaceAll('audit', many),
);

await edit('modules.ts', (text) =>
  text
    .replace('\n\n/**', `\nimport { ${capital(many)}Module } from '@app/${many}';\n\n/**`)
    .replace(
      /= \[([^]*)\];/,
      (_, entries) =>
        `= [${entries.trimEnd().replace(/,?$/, entries.trim() ? ', ' : '')}${capital(many)}Module];`,
    ),
);
await edit('tsconfig.json', (text) =>
  text.replace(/("@app\/[^\n]*\])(\s*\})/, `$1,\n      "@app/${many}": ["./${folder}/src"]$2`),
);
await edit('nest-cli.json', (text) => {
  const settings = JSON.parse(text);
  settings.projects[many] = {
    type: 'library',
    root: folder,
    entryFile: 'index',
    sourceRoot: `${folder}/src`,
    compilerOptions: { tsConfigPath: `${folder}/tsconfig.lib.json` },
  };
  return JSON.stringify(settings, null, 2);
});
await edit('test/repository/architecture.spec.ts', (text) =>
  text.replace(/\n  runtime: (\d+),/, (line, level) => `\n  ${many}: ${level - 1},${line}`),
);

console.log(`
The module works as it is. Next:
1. Change the table (${folder}/src/migrations), the entity, the DTOs and the service to what you store.
2. npm run openapi writes the new route into openapi.json; git add it.
3. npx jest ${folder} --selectProjects sqlite runs its test; npm run check runs all.`);

function refuseUnusable() {
  const names = [many, one, prefix];
  if (!names.every((name) => /^[a-z]{2,20}$/.test(name)) || one === many)
    refuse(
      'Name the module by one word in plural: npm run new:module -- reminders. For wishes add --one wish.',
    );
  if (`${prefix}.${one}_set`.length > EVENT_TYPE_MAX_LENGTH)
    refuse(`The audit event type ${prefix}.${one}_set is longer than ${EVENT_TYPE_MAX_LENGTH} characters.`);
  if (existsSync(join(ROOT, 'libs', many))) refuse(`There is a library libs/${many} already.`);
  for (const name of readdirSync(join(ROOT, 'libs'), { recursive: true })) {
    if (!/(?:migrations\/.*|\.controller)\.ts$/.test(name)) continue;
    const text = readFileSync(join(ROOT, 'libs', name), 'utf8');
    if (text.includes(`name: '${many}'`)) refuse(`There is a table ${many} already: libs/${name}`);
    if (text.includes(`@Controller('${many}'`)) refuse(`There is a route /${many} already: libs/${name}`);
  }
}

function refuse(message) {
  console.error(message);
  process.exit(2);
}

async function write(path, text) {
  const target = join(ROOT, path);
  mkdirSync(dirname(target), { recursive: true });
  const config = await resolveConfig(target);
  writeFileSync(target, await format(text, { ...config, filepath: target }));
  console.log(path);
}

async function edit(path, change) {
  const before = readFileSync(join(ROOT, path), 'utf8');
  const after = change(before);
  if (after === before) refuse(`${path} has not the expected form; nothing was added to it.`);
  await write(path, after);
}

function spec() {
  return renamed(`import { useServiceInProcess } from '../../../test/support/service';
import { snowflake } from '../../../test/support/snowflakes';

const service = useServiceInProcess();

describe('reminders', () => {
  it('are stored under consent, exported, and erased with everything else', async () => {
    const bot = await service.registerBot();
    const who = { user_id: snowflake(), guild_id: snowflake() };
    await bot.hasCategory('reminders');
    const add = () =>
      bot.post('/reminders', { ...who, text: 'Water the plants', due_at: '2027-01-01T08:00:00.000Z' });
    expect((await add()).status).toBe(403);
    await bot.hasConsent(who);
    expect((await add()).status).toBe(201);
    const items = [{ text: 'Water the plants', due_at: '2027-01-01T08:00:00.000Z' }];
    expect((await bot.export(who)).data).toMatchObject({ data: { 'acme.reminders': { items } } });
    const forgotten = await bot.post('/gdpr/forget-user', who);
    expect(forgotten.data).toMatchObject({ status: 'completed', deleted_categories: ['acme.reminders'] });
  });
});
`);
}
