import { plainToInstance } from 'class-transformer';
import {
  getMetadataStorage,
  IsString,
  MinLength,
  Validate,
  validateSync,
  type ValidationError,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
} from 'class-validator';
import fc from '../../../test/support/fast-check';
import type { FieldFault } from '@app/kernel';
import { AppModule } from '../../../apps/api/src/app.module';
import { atDepth, itInPart } from '../../../test/support/depth';
import { ListOf, nestedTypeOf, ObjectOf } from './nested.fields';
import { Text } from './text.fields';
import { Form } from './form';
import { isObject } from './json';

type DtoClass = new () => object;
type Plain = Record<string, unknown>;

/** Every class of the service that declares a checked field. Loading the module registers them. */
function everyDto(): DtoClass[] {
  expect(AppModule).toBeDefined();
  const storage = getMetadataStorage() as unknown as { validationMetadatas: Map<DtoClass, unknown> };
  return [...storage.validationMetadatas.keys()].filter((type) => !LOCAL.has(type.name));
}
const LOCAL = new Set(['Outer', 'Inner', 'Holding', 'Foreign', 'Waiting', 'Grouped']);

function fieldsOf(dto: DtoClass): string[] {
  const metadatas = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  return [...new Set(metadatas.map(({ propertyName }) => propertyName))];
}

/** Values that are right for some fields and wrong for others. */
const VALUES = [
  ...[null, true, false, 0, 1, 7, 90, 1.5, -1, 123456789012345680, 4000],
  ...[
    '',
    'x',
    'Name',
    'profile',
    '__proto__',
    'Größe',
    'a\0b',
    '\ud800',
    '😀',
    'n'.repeat(101),
    'y'.repeat(3000),
  ],
  ...['123456789012345678', '1234567890123456', '123456789012345678901', '00000000000000000'],
  ...['018f2f00-0000-7000-8000-000000000000', '018f2f00-0000-7000-8000-00000000000', '1.0', 'v 1'],
  ...['a@example.org', 'a@b', 'https://example.org/', 'ftp://example.org', 'https://'],
  ...['1', '100', '101', '01', '1e2', 'full', 'merge', 'replace', 'de', 'en', 'consent', 'string', 'number'],
  ...['data_exported', 'completed', 'accepted', '2026-01-31T00:00:00.000Z'],
  ...[[], ['profile'], [1], [''], [[]], {}, { a: 1 }, Array.from({ length: 51 }, () => 'profile')],
];

const anyValue = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...VALUES) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }).filter(hasOwnNamesOnly) },
);

/** class-transformer drops a member whose name `Object.prototype` has, before class-validator sees it: see below. */
function hasOwnNamesOnly(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(
    ([name, member]) => !(name in Object.prototype) && hasOwnNamesOnly(member),
  );
}

function anyBody(dto: DtoClass): fc.Arbitrary<Plain> {
  const fields = fieldsOf(dto).map((name) => {
    const item = nestedTypeOf(dto.prototype as object, name) as DtoClass | undefined;
    if (item === undefined) return [name, anyValue] as const;
    // class-validator accepts null and arrays as items. Form refuses them: see below.
    const items = fc.oneof(
      { weight: 5, arbitrary: anyBody(item) },
      { weight: 1, arbitrary: fc.constantFrom('x', 1, true) },
    );
    return [
      name,
      fc.oneof(
        { weight: 4, arbitrary: fc.array(items, { maxLength: 3 }) },
        { weight: 4, arbitrary: anyBody(item) },
        anyValue.filter(isNoList),
      ),
    ] as const;
  });
  return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
}

const isNoList = (value: unknown): boolean =>
  !Array.isArray(value) || value.every((item) => typeof item !== 'object');

/** Paths of class-validator's errors in the notation of Form. */
function paths(errors: readonly ValidationError[], before = ''): string[] {
  return errors.flatMap(({ property, constraints, children }) => {
    const path = /^\d+$/.test(property)
      ? `${before}[${property}]`
      : before === ''
        ? property
        : `${before}.${property}`;
    // A value that is no list, or a list of a wrong length, is one fault, whatever its items are.
    return constraints !== undefined && Object.keys(constraints).length > 0
      ? [path]
      : paths(children ?? [], path);
  });
}

function verdictOfForm(dto: DtoClass, body: Plain): { paths: string[]; read: object } {
  const faults: FieldFault[] = [];
  const read = Form.of(dto)?.read(body, faults) ?? {};
  return { paths: faults.map(({ field }) => field).sort(), read };
}

function verdictOfClassValidator(dto: DtoClass, body: Plain): string[] {
  return paths(validateSync(plainToInstance(dto, body), { forbidUnknownValues: false })).sort();
}

describe('Form', () => {
  const dtos = everyDto();

  it('is compared on every DTO of the service', () => {
    const names = dtos.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'RegisterBot',
        'ChangeBot',
        'RegisterServer',
        'RegisterCategory',
        'RequestConsent',
      ]),
    );
    expect(names).toEqual(
      expect.arrayContaining(['SubmitData', 'ForgetUser', 'WriteAuditEvent', 'AuditQuery', 'PageQuery']),
    );
  });

  itInPart.each(dtos.map((dto) => [dto.name, dto] as const))(
    'gives the verdict of class-validator on %s, and reads nothing but its declared fields, unchanged',
    (_, dto) => {
      const fields = fieldsOf(dto);
      fc.assert(
        fc.property(anyBody(dto), (body) => {
          const { paths: faults, read } = verdictOfForm(dto, { ...body, unknown_field: 1, toString: 'x' });
          expect(faults).toStrictEqual(verdictOfClassValidator(dto, body));
          const good = (name: string): boolean => !faults.some((path) => path.split(/[.[]/)[0] === name);
          const expected = Object.entries(declaredOf(dto, body)).filter(([name]) => good(name));
          expect(Object.keys(read).filter((name) => !fields.includes(name))).toEqual([]);
          expect(Object.entries(read).filter(([name, value]) => good(name) && value !== undefined)).toEqual(
            expected,
          );
        }),
        { numRuns: atDepth(20, 300) },
      );
    },
  );

  class Inner {
    @Text(5) name: string;
  }
  class Outer {
    @ListOf(() => Inner, 1, 2) list: Inner[];
  }
  class Holding {
    @ObjectOf(() => Inner, { optional: true }) one?: Inner | null;
  }

  it('names a fault of a nested object by its path', () => {
    expect(verdictOfForm(Holding, { one: { name: 'too long' } }).paths).toStrictEqual(['one.name']);
    expect(verdictOfForm(Holding, { one: {} }).paths).toStrictEqual(['one.name']);
    expect(verdictOfForm(Holding, { one: { name: 'ok', more: 1 } })).toStrictEqual({
      paths: [],
      read: Object.assign(new Holding(), { one: Object.assign(new Inner(), { name: 'ok' }) }),
    });
  });

  it.each(['x', 1, true, [], [{ name: 'ok' }]])('refuses %j where an object is asked for', (one) => {
    expect(verdictOfForm(Holding, { one }).paths).toStrictEqual(['one']);
  });

  it.each([{}, { one: null }, { one: undefined }])(
    'takes %j for a nested object that is optional',
    (body) => {
      expect(verdictOfForm(Holding, body).paths).toStrictEqual([]);
    },
  );

  it.each([[[null]], [[[]]], [[{ name: 'ok' }, [{ name: 'ok' }]]]])(
    'refuses items that are no objects: %j',
    (list) => {
      expect(verdictOfForm(Outer, { list }).paths).toHaveLength(1);
    },
  );

  it('takes no field from the prototype of a body', () => {
    const body = Object.create({ list: [{ name: 'ok' }] }) as Plain;
    expect(verdictOfForm(Outer, body).paths).toStrictEqual(['list']);
  });

  it.each(['toString', 'constructor', '__proto__'])('checks a member with the name %s', (name) => {
    const acknowledge = dtos.find((dto) => dto.name === 'AcknowledgeTask') ?? Object;
    const counts = (value: number): Plain =>
      JSON.parse(`{"result":"erased","counts":{"${name}":${value}}}`) as Plain;
    const good = verdictOfForm(acknowledge, counts(1));
    expect(good.paths).toStrictEqual([]);
    expect(JSON.stringify(good.read)).toBe(JSON.stringify(counts(1)));
    expect(verdictOfForm(acknowledge, counts(0.5)).paths).toStrictEqual(['counts']);
  });

  it('refuses at once a decorator that it cannot check', () => {
    class Foreign {
      @IsString({ each: true }) list: string[];
    }
    @ValidatorConstraint({ async: true })
    class Waits implements ValidatorConstraintInterface {
      validate = () => Promise.resolve(true);
    }
    class Waiting {
      @Validate(Waits) name: string;
    }
    class Grouped {
      @MinLength(1, { groups: ['a'] }) name: string;
    }
    for (const dto of [Foreign, Waiting, Grouped]) expect(() => Form.of(dto)).toThrow();
  });

  it('has nothing to say of a type that declares no field', () => {
    expect(Form.of(Object)).toBeUndefined();
    expect(Form.of(undefined)).toBeUndefined();
  });
});

/** The part of `body` that the DTO declares. */
function declaredOf(dto: DtoClass, body: Plain): Plain {
  return Object.fromEntries(
    fieldsOf(dto)
      .filter((name) => Object.hasOwn(body, name))
      .map((name) => {
        const item = nestedTypeOf(dto.prototype as object, name) as DtoClass | undefined;
        const value = body[name];
        return [
          name,
          item === undefined
            ? value
            : Array.isArray(value)
              ? value.map((one) => declaredOf(item, one as Plain))
              : isObject(value)
                ? declaredOf(item, value)
                : value,
        ];
      }),
  );
}
