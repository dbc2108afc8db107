import { render } from 'preact';
import { MutationCache, QueryClient, QueryClientProvider } from '@tanstack/preact-query';
import { LetheError } from '@lethe/sdk';
import { App } from './app';
import { chosenScheme, showScheme } from './scheme';
import './style.css';

showScheme(chosenScheme());

const queries: QueryClient = new QueryClient({
  mutationCache: new MutationCache({
    // What an act is about has changed meanwhile, so that the page shows an old state.
    onError: (error) => {
      if (error instanceof LetheError && (error.status === 404 || error.status === 409))
        void queries.invalidateQueries();
    },
  }),
  defaultOptions: {
    // What is begun offline fails at once: it never waits for a connection, to be done when no one expects it.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      refetchOnReconnect: 'always',
      // The client of the service repeats what may succeed; a refusal is shown at once.
      retry: false,
      staleTime: 5_000,
      refetchOnWindowFocus: (query) => !(query.state.error instanceof LetheError),
    },
  },
});

render(
  <QueryClientProvider client={queries}>
    <App />
  </QueryClientProvider>,
  document.getElementById('app') as HTMLElement,
);
