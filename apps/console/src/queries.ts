import { useQuery } from '@tanstack/preact-query';
import { lethe } from './service';

/** The bot of the session. */
export function useBot() {
  return useQuery({ queryKey: ['bot'], queryFn: () => lethe.bots.me() });
}
