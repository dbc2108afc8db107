export * from './server.entity';
export * from './servers.module';
export * from './servers.service';
