import type { Command } from 'commander';
import { Connection } from '../mcp/connection';
import { messagesIn } from '../mcp/lines';
import { type Allowed, serverOf } from '../mcp/server';
import { failureOf } from '../failures';
import { Output } from '../output';
import { Session } from '../session';

export function addMcp(program: Command): void {
  program
    .command('mcp')
    .summary('let a model read, and prepare an erasure (MCP)')
    .description(
      'Speaks the Model Context Protocol over its input and output, for a client that starts it. It reads: states, lists and ' +
        'sizes, and no values of users. A key with the scope read is enough. What is read is handed to the model of the client.',
    )
    .option('--allow-export', 'also hand everything about a user to the model, with all values')
    .option('--allow-erase', 'also erase a user, after the human at the client has typed a phrase')
    .action((options: Allowed, command: Command) => serve(new Session(command), options));
}

async function serve(session: Session, allowed: Allowed): Promise<void> {
  const output = new Output(false);
  const write = async (message: object): Promise<void> => {
    const text = JSON.stringify(message);
    const { key } = session;
    // No answer of the service has the key; a faulty one or another server could.
    output.result(message, key === undefined ? text : text.replaceAll(key, '[LETHE_KEY]'));
    await output.drained();
  };
  if (process.stdin.isTTY)
    output.note(
      'A client of the Model Context Protocol starts this command and speaks to it. End with Ctrl+D.',
    );
  const fault = faultOf(session);
  if (fault !== undefined) output.note(fault);
  await new Connection(serverOf(session, allowed), write).serve(messagesIn(process.stdin));
}

/** What keeps every tool from working. Each answers it too; this is for the human. */
function faultOf(session: Session): string | undefined {
  try {
    session.client();
    return undefined;
  } catch (error) {
    const { message, mend } = failureOf(error, session.url);
    return `${message}\n→ ${mend}`;
  }
}
