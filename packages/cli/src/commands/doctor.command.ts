import type { Command } from 'commander';
import { type Check, checks } from '../checks';
import { EXIT, Failure } from '../failures';
import { plain } from '../output';
import { Session } from '../session';

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .summary('check key, webhook, signature, clock and texts')
    .description(
      'Checks that everything is right, and says how to mend what is not. The webhook gets three pings: one of the ' +
        'service, one with a wrong signature that it must refuse, and one with LETHE_WEBHOOK_SECRET.',
    )
    .action((_options: object, command: Command) => doctor(new Session(command)));
}

async function doctor(session: Session): Promise<void> {
  const { output } = session;
  const done: Check[] = [];
  for await (const one of checks(session)) {
    done.push(one);
    if (!output.isJson) output.result(one, line(session, one));
  }
  const faults = done.filter(({ ok }) => ok === false);
  if (output.isJson) output.result({ ok: faults.length === 0, checks: done }, '');
  if (faults.length === 0) return;
  const isUnreached = faults.some(({ name }) => name === 'service');
  throw new Failure(
    isUnreached ? EXIT.unreachable : EXIT.refused,
    `${faults.length} of ${done.length} checks failed: ${faults.map(({ name }) => name).join(', ')}.`,
    'What to do is beside each. A lethe that is not on the path is npx --package @lethe/cli lethe.',
    isUnreached ? 'network_error' : 'faults',
  );
}

function line({ output }: Session, { name, ok, message, mend }: Check): string {
  const mark =
    ok === null || (ok && mend !== '')
      ? output.paint('yellow', ok === null ? '?' : '!')
      : output.paint(ok ? 'green' : 'red', ok ? '✓' : '✗');
  return `${mark} ${name.padEnd(9)}  ${plain(message)}${mend === '' ? '' : `\n             → ${mend}`}`;
}
