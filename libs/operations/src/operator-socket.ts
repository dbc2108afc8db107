import { once } from 'node:events';
import { chmodSync, lstatSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { ApiError, CONFIG, type Config, describeFault, inTime, StartError } from '@app/kernel';
import { type Answer, type Asked, operatorActs, socketPath } from './operator-acts';

/** Systems allow 104 or 108 bytes, with the zero at the end. */
const PATH_BYTES_MAX = 103;
/** More than the longest act needs. */
const LINE_MAX = 4_096;
const CONNECTIONS_MAX = 8;

const STOPPING: Answer = { refused: 'Nothing was done: the service is ending. Run the command again.' };
const UNCLEAR: Answer = { refused: 'Nothing was done: the service expects one act in one line.' };

/**
 * On SQLite one process holds the file. It takes the acts of the operator from a Unix domain socket beside it, so that they
 * need no outage and count at once. Who may open the socket may do them: it is not made unless only the owner of the
 * process reaches its directory.
 */
@Injectable()
export class OperatorSocket implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** The time in which a caller sends its line, and in which acts can end at a shutdown, in milliseconds. */
  waitMs = 5_000;
  private readonly logger = new Logger('OperatorSocket');
  private readonly sockets = new Set<Socket>();
  private readonly underWay = new Set<Promise<void>>();
  private server: Server | undefined;

  constructor(
    private readonly modules: ModuleRef,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** The file is locked by now, so a socket that is there has no process. */
  async onApplicationBootstrap(): Promise<void> {
    const { database } = this.config;
    if (database.engine !== 'sqlite' || process.getuid === undefined) return;
    const path = socketPath(database.path);
    const obstacle = obstacleTo(path, process.getuid()) ?? (await this.listen(path));
    if (obstacle === undefined) return;
    this.logger.warn(
      `${path} is not opened, so commands that change bots or keys need the service stopped: ${obstacle}`,
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    const { server } = this;
    if (server === undefined) return;
    this.server = undefined;
    // Also removes the file.
    server.close();
    await inTime(Promise.all(this.underWay), this.waitMs, () => undefined);
    for (const socket of this.sockets) socket.destroy();
  }

  /** Returns why it cannot listen. */
  private async listen(path: string): Promise<string | undefined> {
    const server = createServer((socket) => this.serve(socket)).unref();
    server.maxConnections = CONNECTIONS_MAX;
    try {
      await once(server.listen(path), 'listening');
      chmodSync(path, 0o600);
    } catch (error) {
      server.close();
      return `the system answers ${(error as NodeJS.ErrnoException).code}.`;
    }
    server.on('error', (error) => this.logger.warn('A command was not accepted', describeFault(error)));
    this.server = server;
    return undefined;
  }

  /** Takes one line. What follows it is not read. */
  private serve(socket: Socket): void {
    this.sockets.add(socket);
    const late = setTimeout(() => socket.destroy(), this.waitMs);
    let line = '';
    const take = (chunk: string): void => {
      line += chunk;
      if (!line.includes('\n') && line.length <= LINE_MAX) return;
      clearTimeout(late);
      socket.off('data', take).pause();
      const work = this.answerTo(line).then((answer) => {
        socket.end(`${JSON.stringify(answer)}\n`, () => socket.destroy());
        this.underWay.delete(work);
      });
      this.underWay.add(work);
    };
    socket.setEncoding('utf8').on('data', take);
    // The act is done for a caller that has closed, too.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(late);
      this.sockets.delete(socket);
    });
  }

  private async answerTo(line: string): Promise<Answer> {
    if (this.server === undefined) return STOPPING;
    const asked = line.length <= LINE_MAX ? parsed(line) : undefined;
    if (asked === undefined) return UNCLEAR;
    const { act, given } = asked;
    const acts: Readonly<Record<string, (...given: string[]) => Promise<unknown>>> = operatorActs(
      this.modules,
    );
    const does = Object.hasOwn(acts, act) ? acts[act] : undefined;
    if (does === undefined)
      return { refused: 'Nothing was done: a running service does not do this. Stop it first.' };
    if (does.length !== given.length) return UNCLEAR;
    try {
      return { done: await does(...given) };
    } catch (error) {
      if (error instanceof ApiError || error instanceof StartError) return { refused: error.message };
      this.logger.error(`The command ${act} failed`, describeFault(error));
      return { failed: describeFault(error) };
    }
  }
}

/** Undefined for anything but one line with an act. */
function parsed(line: string): Asked | undefined {
  try {
    const { act, given } = JSON.parse(line) as Partial<Record<keyof Asked, unknown>>;
    if (typeof act !== 'string' || !Array.isArray(given)) return undefined;
    return given.every((each) => typeof each === 'string') ? { act, given } : undefined;
  } catch {
    return undefined;
  }
}

/** Why a socket at this path would be unsafe or impossible. Removes the one of a process that was killed. */
function obstacleTo(path: string, user: number): string | undefined {
  if (Buffer.byteLength(path) > PATH_BYTES_MAX)
    return `its path is longer than ${PATH_BYTES_MAX} bytes. Use a shorter directory.`;
  const directory = dirname(path);
  const { uid, mode } = statSync(directory);
  if (uid !== user) return `${directory} belongs to another user than the process.`;
  if ((mode & 0o077) !== 0)
    return `others than its owner have rights on ${directory}. Restrict it with chmod 700.`;
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (!found.isSocket() || found.uid !== user)
    return 'there is something else of this name. Remove it, and start again.';
  rmSync(path, { force: true });
  return undefined;
}
