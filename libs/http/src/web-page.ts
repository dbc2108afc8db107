import { answerHeaders, sendWhole } from './answer';
import type { LetheResponse } from './request-context';

/** A page for people, or a file to keep: sent as it is, with headers of its own and without the envelope. */
export class WebPage {
  constructor(
    readonly content: string,
    readonly headers: Readonly<Record<string, string>>,
    readonly status = 200,
  ) {}
}

export function answerPage(response: LetheResponse, { content, headers, status }: WebPage): void {
  const { 'Content-Type': type = 'text/html; charset=utf-8', ...further } = headers;
  const all = [...answerHeaders(response, status, type), ...Object.entries(further).flat()];
  sendWhole(response, status, all, content);
}
