import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { canRun } from './programs';

export const PYTHON_SCRIPT = resolve(__dirname, '../../docs/verify/lethe_verify.py');

export const runsPython = canRun('python3');

/** Runs the script once for each line with arguments; answers a line with its exit code and what it has written. */
const LOOP = `
import contextlib, io, json, runpy, sys
main = runpy.run_path(sys.argv[1])["main"]
for line in sys.stdin:
    sys.argv = ["lethe_verify.py"] + json.loads(line)
    code, text = 0, io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
            text.write("" if isinstance(end.code, int) else end.code)
    print(json.dumps({"code": code, "text": text.getvalue()}), flush=True)
`;

export interface Ran {
  readonly code: number | null;
  readonly text: string;
}

/** One process of Python for many runs of `lethe_verify.py`, one after the other. */
class PythonVerifier {
  readonly directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
  private child: ChildProcessByStdio<Writable, Readable, null>;
  private answers: Interface;

  start(): void {
    this.child = spawn('python3', ['-c', LOOP, PYTHON_SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.answers = createInterface(this.child.stdout);
  }

  async run(kind: string, content: unknown, keySet: object, ...more: readonly string[]): Promise<Ran> {
    const [file, keys] = [join(this.directory, 'evidence'), join(this.directory, 'keys.json')];
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    writeFileSync(keys, JSON.stringify(keySet));
    const answer = once(this.answers, 'line') as Promise<[string]>;
    this.child.stdin.write(`${JSON.stringify([kind, file, '--keys', keys, ...more])}\n`);
    return JSON.parse((await answer)[0]) as Ran;
  }

  async end(): Promise<void> {
    const ended = once(this.child, 'close');
    this.child.stdin.end();
    await ended;
    rmSync(this.directory, { recursive: true });
  }
}

/** The process of Python for the calling file. */
export function usePython(): PythonVerifier {
  const python = new PythonVerifier();
  if (runsPython) {
    beforeAll(() => python.start());
    afterAll(() => python.end());
  }
  return python;
}
