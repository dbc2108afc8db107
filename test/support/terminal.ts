import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { until } from './until';

/** Runs a program on a terminal of its own with the given columns. Its standard input is typed there, its standard output is what the terminal shows. */
const TERMINAL = `
import fcntl, os, pty, struct, sys, termios, threading
columns, *program = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, int(columns), 0, 0))
    os.execvp(program[0], program)
def typing():
    while keys := os.read(0, 1024):
        os.write(terminal, keys)
threading.Thread(target=typing, daemon=True).start()
while True:
    try:
        shown = os.read(terminal, 65536)
    except OSError:
        break
    if not shown:
        break
    os.write(1, shown)
sys.stdout.flush()
os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 255)
`;

export const CTRL_C = '\u0003';

/** A program on a real terminal. Without this process it is hung up on. */
export class Terminal {
  /** Everything that was written so far, with the line ends of a program. */
  screen = '';
  readonly ended: Promise<number | null>;
  private readonly child: ChildProcess;
  private hasEnded = false;
  /** What was shown, in which a read may end amid a letter or a line end. */
  private shown = '';

  constructor(
    columns: number,
    program: readonly string[],
    options: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
  ) {
    this.child = spawn('python3', ['-c', TERMINAL, String(columns), ...program], {
      ...options,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.child.stdout?.setEncoding('utf8').on('data', (shown: string) => {
      this.shown += shown;
      this.screen = this.shown.replaceAll('\r\n', '\n');
    });
    this.ended = once(this.child, 'close').then(([code]) => {
      this.hasEnded = true;
      return code as number | null;
    });
  }

  /** What of the screen matches, once it shows this. @throws Error when the program ends without it. */
  async shows(expected: RegExp): Promise<string[]> {
    await until(() => expected.test(this.screen) || this.hasEnded);
    const found = expected.exec(this.screen);
    if (found === null) throw new Error(`${String(expected)} is not on ${this.screen}`);
    return found;
  }

  type(keys: string): void {
    this.child.stdin?.write(keys);
  }

  /** Hangs up, where a test has not ended the program. */
  async close(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}
