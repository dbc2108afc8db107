export * from './api-key.guard';
export * from './bot.entity';
export * from './bots.module';
export * from './identify.middleware';
export * from './key-directory';
