import { EXAMPLE, type Examples } from '@app/http';

export const EXAMPLES = {
  certificate: { canonical: { answer: { certificate: EXAMPLE.jws } } },
} satisfies Readonly<Record<string, Examples>>;
