// Fields of a noun, each declared once. The type of the row, the schemas, the form in the API and
// the audited settings follow from the declaration.
import { z } from 'zod';
import { isoTime } from '../../platform/runtime/clock.ts';
import { fromJson, toJson } from '../../platform/store/db.ts';

/** Type of a name in snake case: `is_default` for `isDefault`. */
type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Name;

/** A schema, or null for an input without the field. */
type Input = z.ZodType | null;

/** A field with a column. */
interface Stored<Value, Shown extends z.ZodType, Create extends Input, Update extends Input> {
  shown: Shown;
  create: Create;
  update: Update;
  /** Value of the column if the input has no value. */
  absent: Value;
  read(value: Value): unknown;
  write(value: unknown): Value;
}

/** A stored field with a column that does not have the field's name. */
type InColumn<Field, Column extends string> = Field & { column: Column };

/** A field that the caller of `present` computes. */
interface Computed<Shown extends z.ZodType> {
  shown: Shown;
  create: null;
  update: null;
}

// biome-ignore lint/suspicious/noExplicitAny: the type of the value differs by field.
type AnyField = Stored<any, z.ZodType, Input, Input> | Computed<z.ZodType>;

type Fields = Readonly<Record<string, AnyField>>;

const same = <Value>(value: unknown) => value as Value;

/** Gives `shown` the description of the first schema, and returns `shown`. */
function sayingAs<Shown extends z.ZodType>({ description }: z.ZodType, shown: Shown): Shown {
  if (description !== undefined) z.globalRegistry.add(shown, { description });
  return shown;
}

/** A required text field, never null. */
export function text<Schema extends z.ZodType<string>>(schema: Schema) {
  return {
    shown: sayingAs(schema, z.string()),
    create: schema,
    update: schema.optional(),
    absent: '',
    read: same<string>,
    write: same<string>,
  };
}

/** An optional text field, null if absent. */
export function optionalText<Schema extends z.ZodType<string>>(schema: Schema) {
  return {
    shown: sayingAs(schema, z.string().nullable()),
    create: schema.nullish(),
    update: schema.nullable().optional(),
    absent: null as string | null,
    read: same<string | null>,
    write: same<string | null>,
  };
}

/** A boolean field, stored as 1 or 0; `usually` if the input has no value. */
export function flag<Schema extends z.ZodType<boolean>>(schema: Schema, usually = false) {
  return {
    shown: sayingAs(schema, z.boolean()),
    create: schema.optional(),
    update: schema.optional(),
    absent: Number(usually),
    read: (value: number) => value === 1,
    write: Number,
  };
}

/** A value in the form of the API, stored as JSON; null if the input has no value. */
export function json<Shown extends z.ZodType, Create extends Input, Update extends Input>(schemas: {
  shown: Shown;
  create: Create;
  update: Update;
}) {
  return {
    ...schemas,
    absent: null as string | null,
    read: (value: string | null) => fromJson<unknown>(value),
    write: toJson,
  };
}

/** A field without a column: `present` gets the value. */
export function computed<Shown extends z.ZodType>(shown: Shown): Computed<Shown> {
  return { shown, create: null, update: null };
}

/** Sets the column of a field that has a different name than the column. */
export function inColumn<Field extends AnyField, Column extends string>(
  column: Column,
  field: Field,
): InColumn<Field, Column> {
  return { ...field, column };
}

type ColumnOf<Field, Name extends string> = Field extends { column: infer Column extends string }
  ? Column
  : Snake<Name>;

/** Columns that every noun has. */
interface Owned {
  id: string;
  organization_id: string;
  created_at: number;
  updated_at: number;
}

type Columns<Of> = {
  [Name in keyof Of & string as Of[Name] extends { absent: unknown }
    ? ColumnOf<Of[Name], Name>
    : never]: Of[Name] extends { absent: infer Value } ? Value : never;
};

type Part<Of, Name extends 'create' | 'update' | 'shown'> = {
  -readonly [Field in keyof Of as Of[Field] extends Record<Name, z.ZodType>
    ? Field
    : never]: Of[Field] extends Record<Name, infer Schema> ? Schema : never;
};

type Values<Shape> = Shape extends z.ZodRawShape ? z.output<z.ZodObject<Shape>> : never;

/** Values of the computed fields, which `present` needs. */
type Given<Of> = {
  [Name in keyof Of as Of[Name] extends { absent: unknown } ? never : Name]: Of[Name] extends {
    shown: infer Shown extends z.ZodType;
  }
    ? z.output<Shown>
    : never;
};

const before = {
  id: z.string().describe('Id of the resource'),
  organizationId: z.string().describe('Organization that owns the resource'),
};
const after = {
  createdAt: z.string().describe('Time of creation, ISO 8601 in UTC'),
  updatedAt: z.string().describe('Time of the last change, ISO 8601 in UTC'),
};

type Shown<Of> = Values<typeof before & Part<Of, 'shown'> & typeof after>;

const columnName = (name: string) =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns the schemas and functions that follow from the fields, in the order of the fields. */
export function fieldTable<Of extends Fields>(fields: Of) {
  const all = Object.entries<AnyField>(fields).map(([name, field]) => {
    const { column = columnName(name) } = field as { column?: string };
    return { name, field, column, stored: 'absent' in field ? field : null };
  });
  const part = (of: 'create' | 'update' | 'shown') =>
    Object.fromEntries(all.flatMap(({ name, field }) => (field[of] ? [[name, field[of]]] : [])));
  const columns = (input: object, isNew: boolean) =>
    Object.fromEntries(
      all.flatMap(({ name, column, stored }) => {
        const value = (input as Record<string, unknown>)[name];
        if (stored === null || (value === undefined && !isNew)) return [];
        return [[column, value === undefined ? stored.absent : stored.write(value)]];
      }),
    );
  const read = (row: object, name: string) => {
    const { stored, column = '' } = all.find((one) => one.name === name) ?? {};
    return stored?.read((row as Record<string, unknown>)[column]);
  };
  return {
    /** Shapes of the inputs and of the output. */
    create: part('create') as Part<Of, 'create'>,
    update: part('update') as Part<Of, 'update'>,
    output: { ...before, ...(part('shown') as Part<Of, 'shown'>), ...after },

    /** Returns a row in the form of the API. */
    present(
      row: Columns<Of> & Owned,
      ...[given]: object extends Given<Of> ? [] : [Given<Of>]
    ): Shown<Of> {
      const values = all.map(({ name, stored }) => [
        name,
        stored ? read(row, name) : (given as Record<string, unknown> | undefined)?.[name],
      ]);
      return {
        id: row.id,
        organizationId: row.organization_id,
        ...Object.fromEntries(values),
        createdAt: isoTime(row.created_at),
        updatedAt: isoTime(row.updated_at),
      } as Shown<Of>;
    },

    /** Returns the fields that an update may change, for the audit. */
    settings(row: Columns<Of>): Record<string, unknown> {
      const changeable = all.filter(({ field }) => field.update !== null);
      return Object.fromEntries(changeable.map(({ name }) => [name, read(row, name)]));
    },

    /** Converts the input of a creation to the columns of a new row. */
    created(input: Values<Part<Of, 'create'>>): Columns<Of> {
      return columns(input as object, true) as Columns<Of>;
    },

    /** Returns the columns that an update changes. */
    changed(input: Values<Part<Of, 'update'>>): Partial<Columns<Of>> {
      return columns(input as object, false) as Partial<Columns<Of>>;
    },
  };
}

/** The row of a noun with this field table. */
export type RowOf<Table> = Table extends { created: (input: never) => infer Row }
  ? Row & Owned
  : never;
