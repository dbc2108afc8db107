import { DatabaseModule, UnitOfWork } from '@app/database';
import { Clock, type Config, CONFIG, Random } from '@app/kernel';
import { encryptionReady } from './aead';
import { Global, Logger, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ConsentedDataHolders } from './consented-data';
import { Cursors } from './cursors';
import { EncryptedTexts } from './encrypted-texts';
import { HeldSubject, HeldSubjects } from './held-subjects';
import { Installation, InstallationKeys, requireUnencrypted, SubjectDigests } from './installation-keys';
import { keyFilePath, KeyFileWatch, masterKeys, presentMasterKeys } from './master-key';
import { KeyRewrite } from './key-rewrite';
import { MasterKeyRotation } from './master-key-rotation';
import { Keyring } from './keyring';
import { Keys1763600000010 } from './migrations/1763600000010-keys';
import { Subjects1763600000012 } from './migrations/1763600000012-subjects';
import { Installation1763600000000 } from './migrations/1763600000000-installation';
import { Signer } from './signer';
import { SubjectDataHolders } from './subject-data';
import { KeyCache } from './subject-key';
import { SubjectKeys } from './subject-keys';
import { SubjectTexts } from './subject-texts';

const EXPORTED = [
  Cursors,
  SubjectDigests,
  SubjectKeys,
  HeldSubjects,
  SubjectTexts,
  MasterKeyRotation,
  KeyRewrite,
  SubjectDataHolders,
  ConsentedDataHolders,
];

/** Provides the {@link Keyring}, the keys that it encrypts, and the holders of data about subjects, to every module. */
@Global()
@Module({
  imports: [
    DiscoveryModule,
    DatabaseModule.forFeature(
      [HeldSubject, Installation],
      [Keys1763600000010, Installation1763600000000, Subjects1763600000012],
    ),
  ],
  providers: [
    {
      provide: Keyring,
      // The database opens first, so that a start that cannot open it leaves no key file.
      inject: [CONFIG, Random, UnitOfWork],
      useFactory: async (config: Config, random: Random, unitOfWork: UnitOfWork) => {
        await encryptionReady;
        const warn = (message: string): void => new Logger('Keyring').warn(message);
        if (presentMasterKeys(config) === undefined)
          await requireUnencrypted(unitOfWork, keyFilePath(config));
        return new Keyring(masterKeys(config, random, warn), random);
      },
    },
    {
      provide: InstallationKeys,
      inject: [UnitOfWork, Keyring, Clock, Random],
      useFactory: (unitOfWork: UnitOfWork, keyring: Keyring, clock: Clock, random: Random) =>
        InstallationKeys.open(unitOfWork, keyring, clock, random),
    },
    {
      provide: Signer,
      // The keys of the installation come first, since the signer locks one of their rows.
      inject: [UnitOfWork, Keyring, Clock, Random, InstallationKeys],
      useFactory: (unitOfWork: UnitOfWork, keyring: Keyring, clock: Clock, random: Random) =>
        Signer.open(unitOfWork, keyring, clock, random),
    },
    ...EXPORTED,
    EncryptedTexts,
    KeyCache,
    KeyFileWatch,
  ],
  exports: [Keyring, InstallationKeys, Signer, ...EXPORTED],
})
export class CryptoModule {}
