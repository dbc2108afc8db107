import { EXAMPLE, examplePage, type Examples } from '@app/http';

const BOT = {
  id: EXAMPLE.bot_id,
  platform_bot_id: EXAMPLE.platform_bot_id,
  name: 'Greeter',
  state: 'active',
  suspended_at: null,
  tier: 'free',
  stored_tier: null,
  subjects: 1,
  values: 1,
  created_at: EXAMPLE.time,
  last_used_at: null,
} as const;

export const EXAMPLES = {
  status: {
    answer: {
      health: { status: 'ok', conditions: [] },
      version: '1.4.2',
      node: 'v24.11.0',
      started_at: EXAMPLE.time,
      database: { engine: 'sqlite', version: '3.51.1', bytes: 401_408 },
      migrations: { applied: 24, pending: [], unknown: [] },
      master_key: 'file',
      tiers: [
        { name: 'free', requests_per_minute: 30 },
        { name: 'standard', requests_per_minute: 300 },
        { name: 'high', requests_per_minute: 3000 },
      ],
      bots: { total: 1, suspended: 0 },
      subjects: 1,
      webhooks: { waiting: 0, oldest_due: null, exhausted: 0, suspended_bots: 0 },
      erasures: { processing: 0, oldest: null },
      sealing: { unsealed_logs: 0, oldest: null },
      backups: { data: null, keys: null, ledger: null, data_bytes: null, keys_bytes: null, drill: null },
      read_at: EXAMPLE.time,
    },
  },
  findings: {
    answer: {
      findings: [
        {
          id: 'backup_missing',
          level: 'fault',
          says: 'There is no backup of the data and the keys from the last 7 days.',
          mend: 'Run backup --to DIR every day, and backup:drill --from DIR now and then.',
        },
      ],
      read_at: EXAMPLE.time,
    },
  },
  storage: {
    answer: {
      bytes: 401_408,
      disk: { bytes: 107_374_182_400, free_bytes: 53_687_091_200 },
      samples: [{ at: EXAMPLE.time, bytes: 401_408, bots: 1, subjects: 1 }],
    },
  },
  bots: { answer: { bots: [BOT], pagination: examplePage(1) } },
  suspend: { answer: { ...BOT, state: 'suspended', suspended_at: EXAMPLE.time } },
  resume: { answer: BOT },
  tier: { body: { tier: 'high' }, answer: { ...BOT, tier: 'high', stored_tier: 'high' } },
  ledger: {
    answer: {
      format: 'lethe-erasure-ledger/3',
      exported_at: EXAMPLE.time,
      mac: 'jq8cO0hQ3mZ4m1nN2mT1u0q8k7yQw9o2b3c4d5e6f7g',
    },
  },
} satisfies Readonly<Record<string, Examples>>;
