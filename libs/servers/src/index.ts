export { countDeletions, guildsDue, nextBotWithDeletions } from './server-queries';
export { ServersModule } from './servers.module';
export { ServersService } from './servers.service';
