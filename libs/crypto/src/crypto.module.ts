import { Global, Logger, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { DatabaseModule, UnitOfWork } from '@app/database';
import { Clock, CONFIG, type Config, Random } from '@app/kernel';
import { KeyRotation } from './key-rotation';
import { KeyTextsHolder } from './key-texts.holder';
import { Keyring } from './keyring';
import { masterKeys } from './master-key';
import { Keys1763600000010 } from './migrations/1763600000010-keys';
import { SealedTexts } from './sealed-texts';
import { ServiceKeys } from './service-keys';
import { Signer } from './signer';
import { SubjectDigests } from './subject-digests';
import { SubjectKeys } from './subject-keys';

/** Provides the {@link Keyring}, and the keys that it seals, to every module. */
@Global()
@Module({
  imports: [DiscoveryModule, DatabaseModule.forFeature([], [Keys1763600000010])],
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
    {
      provide: ServiceKeys,
      inject: [UnitOfWork, Keyring, Clock, Random],
      useFactory: (unitOfWork: UnitOfWork, keyring: Keyring, clock: Clock, random: Random) =>
        ServiceKeys.open(unitOfWork, keyring, clock, random),
    },
    {
      provide: Signer,
      // After the other keys of the installation: their first row is what it locks.
      inject: [UnitOfWork, Keyring, Clock, Random, ServiceKeys],
      useFactory: (unitOfWork: UnitOfWork, keyring: Keyring, clock: Clock, random: Random) =>
        Signer.open(unitOfWork, keyring, clock, random),
    },
    SubjectDigests,
    SubjectKeys,
    KeyTextsHolder,
    SealedTexts,
    KeyRotation,
  ],
  exports: [KeyRotation, Keyring, ServiceKeys, Signer, SubjectDigests, SubjectKeys],
})
export class CryptoModule {}
