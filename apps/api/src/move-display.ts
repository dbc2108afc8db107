import type { MoveStep } from '@app/operations';
import type { Terminal } from '@app/runtime';

const BAR = 24;
/** How often the line is drawn anew, in milliseconds. */
const DRAWN_EVERY_MS = 100;

/** Shows how far a move is: one line with a bar on a terminal, a line for each finished table elsewhere. */
export class MoveDisplay {
  private current = '';
  private startedAt = 0;
  private startedWith = 0;
  private drawnAt = 0;

  constructor(private readonly out: Pick<Terminal['stdout'], 'write' | 'isTTY'>) {}

  show(step: MoveStep): void {
    const name = `${step.doing} ${step.table}`;
    const now = performance.now();
    if (name !== this.current) {
      this.end();
      this.current = name;
      this.startedAt = now;
      this.startedWith = step.rows;
      this.drawnAt = 0;
    }
    const isDone = step.rows >= step.total;
    if (this.out.isTTY && (isDone || now - this.drawnAt > DRAWN_EVERY_MS)) this.draw(step, now);
    if (isDone && !this.out.isTTY) this.out.write(`${name}: ${step.rows} rows\n`);
    if (isDone) this.end();
  }

  /** Leaves the line that was drawn last. */
  end(): void {
    if (this.current !== '' && this.out.isTTY && this.drawnAt > 0) this.out.write('\n');
    this.current = '';
    this.drawnAt = 0;
  }

  private draw({ doing, table, rows, total }: MoveStep, now: number): void {
    const part = total === 0 ? 1 : Math.min(1, rows / total);
    const filled = Math.round(part * BAR);
    const perSecond = Math.round((rows - this.startedWith) / Math.max(0.001, (now - this.startedAt) / 1000));
    const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)}`;
    const numbers = `${String(Math.floor(part * 100)).padStart(3)} %  ${rows} of ${total} rows  ${perSecond}/s`;
    this.out.write(`\r\u001b[2K${doing.padEnd(9)} ${table.padEnd(20)} ${bar} ${numbers}`);
    this.drawnAt = now;
  }
}
