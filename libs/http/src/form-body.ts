import { SetMetadata } from '@nestjs/common';
import { type ApiError, invalidRequest, isCleanText } from '@app/kernel';
import { type BodyType, readJsonBody } from './json-body';
import type { LetheRequest } from './request-context';

/** The largest body of a form, in bytes. */
const LIMIT_BYTES = 8192;

export const FORM_BODY = 'lethe:form-body';

/** Marks a route whose body is sent by a form of a page: its fields are lists of texts. */
export const FormBody = (): MethodDecorator & ClassDecorator => SetMetadata(FORM_BODY, true);

const FORM_TYPE: BodyType = {
  name: 'application/x-www-form-urlencoded',
  matches: (header) => /^application\/x-www-form-urlencoded\s*(;|$)/i.test(header),
};

/** The fields of a form by name, each with its values. */
export type FormFields = Readonly<Record<string, readonly string[] | undefined>>;

export function readFormBody(request: LetheRequest): Promise<LetheRequest['body']> {
  return readJsonBody(request, LIMIT_BYTES, fieldsOf, FORM_TYPE);
}

function fieldsOf(bytes: Buffer): Record<string, unknown> | ApiError {
  const fields: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const [name, value] of new URLSearchParams(bytes.toString('utf8'))) {
    if (!isCleanText(name) || !isCleanText(value))
      return invalidRequest([{ field: 'body', message: 'must not hold NUL or lone surrogates' }]);
    (fields[name] ??= []).push(value);
  }
  return fields;
}
