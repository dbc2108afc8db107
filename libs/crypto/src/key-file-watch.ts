import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { CONFIG, type Config, Degradations, Random } from '@app/kernel';
import { Keyring } from './keyring';
import { keyFilePath, readKeyFile } from './master-key';

const LOOK_MS = 60_000;
const KEY_FILE_MISSING = 'key_file_missing';

/**
 * Looks whether the key file still holds the key in use. The process has the key in memory and works on without the file,
 * but the next start needs it, so the process is degraded meanwhile.
 */
@Injectable()
export class KeyFileWatch implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Keyring');
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly keyring: Keyring,
    private readonly random: Random,
    private readonly degradations: Degradations,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  onApplicationBootstrap(): void {
    // A command of the operator ends soon, and can change the file itself.
    if (this.config.masterKeys.length > 0 || this.config.jobs === 'off') return;
    this.timer = setInterval(() => this.look(), LOOK_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Reports a file that is missing since the last look, or is there again. */
  look(): void {
    const path = keyFilePath(this.config);
    const isMissing = !this.isHeldBy(path);
    if (!this.degradations.note(KEY_FILE_MISSING, isMissing)) return;
    if (!isMissing) return this.logger.log(`The key file ${path} is in place again`);
    this.logger.error(
      `The key file ${path} is missing, cannot be read, or holds another key. Put its copy back before this process ends: no later start can read what is stored without it`,
    );
  }

  private isHeldBy(path: string): boolean {
    try {
      return new Keyring(readKeyFile(path) ?? [], this.random).ids.includes(this.keyring.presentId);
    } catch {
      return false;
    }
  }
}
