export {
  countDeletions,
  guildsDue,
  nextBotWithDeletions,
  postponeDeletions,
  ServersService,
} from './servers.service';
export { ServersModule } from './servers.module';
