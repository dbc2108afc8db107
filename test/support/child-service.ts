import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { transformFileSync } from '@swc/core';

const ROOT = resolve(__dirname, '../..');

/** Where the compiled service of the calling file stands; compiled from the sources as they are now. */
export function useBuild(): { readonly directory: string } {
  const build = { directory: mkdtempSync(join(tmpdir(), 'lethe-build-')) };
  beforeAll(() => compile(build.directory));
  afterAll(() => rmSync(build.directory, { recursive: true }));
  return build;
}

function compile(target: string): void {
  const files = ['apps', 'libs'].flatMap((top) =>
    readdirSync(join(ROOT, top), { recursive: true, withFileTypes: true })
      .filter(({ name }) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  for (const file of [...files, join(ROOT, 'ormconfig.ts')]) {
    const { code } = transformFileSync(file, {
      jsc: {
        target: 'es2022',
        parser: { syntax: 'typescript', decorators: true },
        transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
        keepClassNames: true,
      },
      module: { type: 'commonjs' },
    });
    const out = join(target, relative(ROOT, file).replace(/\.ts$/, '.js'));
    mkdirSync(dirname(out), { recursive: true });
    writeFileSync(
      out,
      code.replace(/"@app\/([a-z-]+)"/g, (_, lib: string) =>
        JSON.stringify(join(target, 'libs', lib, 'src')),
      ),
    );
  }
}

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

/** What each kind of process says once it runs. */
const RUNS = {
  api: /Lethe listens on http:\/\/127\.0\.0\.1:(\d+)/,
  worker: /Lethe's worker runs, .* http:\/\/127\.0\.0\.1:(\d+)\//,
} as const;

/** The service, or a worker of it, as a process of its own, which can be killed. */
export class ChildService {
  private child: ChildProcess;
  private stderr = '';
  private ending: Promise<Ending>;
  private port = 0;

  constructor(
    private readonly buildDirectory: string,
    readonly databasePath: string,
    private readonly environment: Readonly<Record<string, string>> = {},
    private readonly kind: keyof typeof RUNS = 'api',
  ) {}

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts the process; a further start takes the same port. @throws Error when it ends before it listens. */
  async start(): Promise<this> {
    this.launch();
    const listening = new Promise<number>((resolvePort) => {
      this.child.stderr?.on('data', () => {
        const port = RUNS[this.kind].exec(this.stderr)?.[1];
        if (port !== undefined) resolvePort(Number(port));
      });
    });
    const ended = this.ending.then(({ code, stderr }) => {
      throw new Error(`the service ended with ${code}: ${stderr}`);
    });
    this.port = await Promise.race([listening, ended]);
    return this;
  }

  /** Starts the process and waits for its end: for starts that must be refused. */
  refused(): Promise<Ending> {
    this.launch();
    return this.ending;
  }

  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Ending> {
    this.child.kill(signal);
    return this.ending;
  }

  private launch(): void {
    this.stderr = '';
    this.child = spawn(process.execPath, [join(this.buildDirectory, `apps/${this.kind}/src/main.js`)], {
      cwd: dirname(this.databasePath),
      env: {
        PATH: process.env['PATH'],
        NODE_PATH: join(ROOT, 'node_modules'),
        PORT: String(this.port),
        WORKER_PORT: String(this.port),
        DATABASE_URL: `sqlite:${this.databasePath}`,
        RATE_LIMIT_TIERS: 'free=1000000',
        RATE_LIMIT_ANONYMOUS: '1000000',
        LOG_LEVEL: 'error',
        ...this.environment,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.ending = new Promise((resolveEnd) =>
      this.child.on('close', (code, signal) => resolveEnd({ code, signal, stderr: this.stderr })),
    );
  }
}
