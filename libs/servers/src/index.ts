export { ServersModule } from './servers.module';
export { ServersService } from './servers.service';
