import { Module } from '@nestjs/common';
import { DatabaseModule } from '@app/database';
import { Servers1763600000002 } from './migrations/1763600000002-servers';
import { Server } from './server.entity';
import { ServersController } from './servers.controller';
import { ServersService } from './servers.service';

@Module({
  imports: [DatabaseModule.forFeature([Server], [Servers1763600000002])],
  controllers: [ServersController],
  providers: [ServersService],
  exports: [ServersService],
})
export class ServersModule {}
