import { ArgumentMetadata, Injectable, PipeTransform } from '@nestjs/common';
import { ApiError, FieldFault, invalidRequest } from '@app/kernel';
import { Form } from './form';

/**
 * Validates every DTO of a body, query or path. The 400 names each bad field. A type without declared fields passes
 * unchanged.
 */
@Injectable()
export class DtoPipe implements PipeTransform {
  /** @throws ApiError: the fault of a body or query that could not be read, or 400 `invalid_request`. */
  transform(value: unknown, { metatype }: ArgumentMetadata): unknown {
    const form = Form.of(metatype);
    return form === undefined ? value : validated(form, value);
  }
}

/** @throws ApiError as {@link DtoPipe} */
export function validated(form: Form, value: unknown): object {
  if (value instanceof ApiError) throw value;
  if (typeof value !== 'object' || value === null) {
    throw invalidRequest([{ field: 'body', message: 'must be a JSON object' }]);
  }
  const faults: FieldFault[] = [];
  const dto = form.read(value as Record<string, unknown>, faults);
  if (faults.length > 0) throw invalidRequest(faults);
  return dto;
}
