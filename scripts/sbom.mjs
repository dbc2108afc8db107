// Prints the software bill of materials of the production dependencies (CycloneDX, JSON), from the lock file alone.
//
// `npm sbom --omit dev` leaves out every package that a development dependency needs too, Express and pg among them. So
// npm reads a copy of the lock file without the development dependencies.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));

function withoutDevelopment() {
  const manifest = read('package.json');
  const lock = read('package-lock.json');
  const others = Object.entries(lock.packages).filter(([, { dev }]) => dev !== true);
  lock.packages = Object.fromEntries(others);
  delete manifest.devDependencies;
  delete lock.packages[''].devDependencies;
  return { manifest, lock };
}

/** Old packages name their licence in another form, which the lock file does not contain. */
function completed(bom) {
  for (const component of bom.components) {
    const manifest = join('node_modules', component.name, 'package.json');
    if (component.licenses?.length > 0 || !existsSync(join(root, manifest))) continue;
    component.licenses = (read(manifest).licenses ?? []).map(({ type }) => ({ license: { id: type } }));
  }
  return bom;
}

const directory = mkdtempSync(join(tmpdir(), 'lethe-sbom-'));
try {
  // npm takes the name of the product from its directory.
  const place = join(directory, 'lethe');
  mkdirSync(place);
  const { manifest, lock } = withoutDevelopment();
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(place, 'package-lock.json'), JSON.stringify(lock));
  const options = [
    '--sbom-format',
    'cyclonedx',
    '--sbom-type',
    'application',
    '--package-lock-only',
    '--offline',
  ];
  const text = execFileSync('npm', ['sbom', ...options], {
    cwd: place,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  process.stdout.write(`${JSON.stringify(completed(JSON.parse(text)), null, 2)}\n`);
} finally {
  rmSync(directory, { recursive: true });
}
