import { Global, Logger, Module } from '@nestjs/common';
import { CONFIG, type Config, Random } from '@app/common';
import { Keyring } from './keyring';
import { masterKeys } from './master-key';

/** Provides the {@link Keyring} to every module. */
@Global()
@Module({
  providers: [
    {
      provide: Keyring,
      inject: [CONFIG, Random],
      useFactory: (config: Config, random: Random) => {
        const logger = new Logger('Keyring');
        return new Keyring(
          masterKeys(config, random, (message) => logger.warn(message)),
          random,
        );
      },
    },
  ],
  exports: [Keyring],
})
export class CryptoModule {}
