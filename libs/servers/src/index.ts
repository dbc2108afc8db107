export { countDeletions, guildsDue, nextBotWithDeletions, ServersService } from './servers.service';
export { ServersModule } from './servers.module';
