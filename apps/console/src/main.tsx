import { render } from 'preact';
import { QueryClient, QueryClientProvider } from '@tanstack/preact-query';
import { LetheError } from '@lethe/sdk';
import { App } from './app';
import { chosenScheme, showScheme } from './scheme';
import './style.css';

showScheme(chosenScheme());

const queries = new QueryClient({
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
