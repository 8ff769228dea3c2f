// Flags of a command, derived from the schema of the operation: a flag for each field with a simple
// value, or a list of simple values. Structured fields need `--data`. The schema of the route
// checks the values.
import { Flags, type Interfaces } from '@oclif/core';
import { z } from 'zod';
import { timeFrom } from './since.ts';

/** A JSON Schema of a single type: the keywords from which a flag is made. */
interface FieldSchema {
  type: string;
  format?: string;
  description?: string | undefined;
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  items?: FieldSchema;
}

/** A field as zod renders it: with a single type, several types, or a union. */
interface RawSchema extends Omit<FieldSchema, 'type'> {
  type?: string | readonly string[];
  anyOf?: readonly RawSchema[];
}

/** Names of flags that differ from the derived names, by field; null for a field without a flag. */
export type FlagNames = Readonly<Record<string, string | null>>;

interface SchemaFlags {
  flags: Interfaces.FlagInput;
  /** Maps the name of each flag to the field that the flag sets. */
  fields: Readonly<Record<string, string>>;
}

/** Returns the kebab-case name, without the `is` of a boolean and in the singular for a list. */
function flagName(field: string, { type }: FieldSchema): string {
  const name = field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (type === 'boolean') return name.replace(/^is-/, '');
  return type === 'array' ? name.replace(/ies$/, 'y').replace(/s$/, '') : name;
}

/** Splits a field into variants of a single type each. */
function variantsOf(schema: RawSchema): FieldSchema[] {
  const parts = schema.anyOf ?? [schema];
  return parts.flatMap((part) => [part.type ?? []].flat().map((type) => ({ ...part, type })));
}

/**
 * Returns the variant of a field that a flag can express, with the field's description and default;
 * null without such a variant.
 */
function flatVariant(schema: RawSchema): FieldSchema | null {
  const variants = variantsOf(schema);
  const order = ['array', 'boolean', 'string', 'integer'];
  const [variant] = order.flatMap((type) => variants.find((one) => one.type === type) ?? []);
  if (!variant || (variant.type === 'array' && variant.items?.type !== 'string')) return null;
  const { description = variant.description, default: value = variant.default } = schema;
  // In a query a number arrives as text, and the schema converts it.
  const isNumber = variants.some((one) => one.type === 'number');
  return { ...variant, ...(isNumber && { format: 'number' }), description, default: value };
}

/** Largest number of values of an enum that help lists. */
const mostChoices = 10;

/**
 * Lists 2 to 10 values of an enum: `both (default), rsa or ed25519`. Empty for fewer or more
 * values.
 */
function choicesIn({ enum: all = [], default: usual }: FieldSchema): string {
  const values = all.filter((value) => typeof value === 'string');
  const words = values.map((value) => (value === usual ? `${value} (default)` : value));
  return words.length < 2 || words.length > mostChoices
    ? ''
    : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

function descriptionOf(field: FieldSchema): string {
  const parts = [field.description?.replaceAll('`', '') ?? '', choicesIn(field.items ?? field)];
  const text = parts.filter((part) => part !== '').join(': ');
  return field.type === 'array' ? `${text}; may be repeated` : text;
}

const helpValues: Readonly<Record<string, string>> = {
  email: 'ADDRESS',
  'date-time': 'TIME',
  number: 'N',
  uri: 'URL',
};

function flagOf(name: string, field: FieldSchema) {
  const description = descriptionOf(field);
  if (field.type === 'boolean') return Flags.boolean({ description, allowNo: true });
  if (field.type === 'integer') return Flags.integer({ description, helpValue: 'N' });
  const { format = '' } = field.items ?? field;
  const helpValue = /Ids?$/.test(name) ? 'ID' : helpValues[format];
  const words = { description, ...(helpValue !== undefined && { helpValue }) };
  return field.type === 'array' ? Flags.string({ ...words, multiple: true }) : Flags.string(words);
}

/**
 * Tells whether a field needs a flag. A field with a single possible value, such as a channel, does
 * not.
 */
function hasChoice({ enum: values, const: only, items }: FieldSchema): boolean {
  return only === undefined && (values ?? items?.enum)?.length !== 1;
}

/**
 * Derives the flags of an object schema, without the fields that are arguments. @throws RangeError
 * for names of unknown fields.
 */
export function flagsOf(
  schema: z.ZodObject,
  names: FlagNames = {},
  argNames: readonly string[] = [],
): SchemaFlags {
  const unknown = Object.keys(names).find((name) => !(name in schema.shape));
  if (unknown !== undefined) throw new RangeError(`no field is named ${unknown}`);
  const flags: Interfaces.FlagInput = {};
  const fields: Record<string, string> = {};
  for (const [name, part] of Object.entries(schema.shape)) {
    const rendered = z.toJSONSchema(part as z.ZodType, { io: 'input', unrepresentable: 'any' });
    const field = flatVariant(rendered as RawSchema);
    const known = names[name];
    if (known === null || !field || !hasChoice(field) || argNames.includes(name)) continue;
    const flag = known ?? flagName(name, field);
    flags[flag] = flagOf(name, field);
    fields[flag] = name;
  }
  return { flags, fields };
}

/**
 * Returns the flags. For the fields in `ages`, the descriptions say that an age is accepted too.
 */
export function agesAllowed(
  { flags, fields }: SchemaFlags,
  ages: readonly string[],
): Interfaces.FlagInput {
  const described = Object.entries(flags).map(([name, flag]) => {
    if (!ages.includes(fields[name] ?? '')) return [name, flag];
    const { description = '' } = flag;
    const shown = description.startsWith('The same as ')
      ? description.replace('as ', 'as --')
      : `${description}, or an age: 90s, 10m, 1h or 7d`;
    return [name, { ...flag, description: shown }];
  });
  return Object.fromEntries(described);
}

/** Replaces ages such as `7d` in the fields `ages` by times. @throws UsageError naming the flag. */
export function readAges(
  values: Readonly<Record<string, unknown>>,
  { fields }: SchemaFlags,
  ages: readonly string[],
): Record<string, unknown> {
  const now = Date.now();
  const instants = Object.entries(fields)
    .filter(([, field]) => ages.includes(field) && values[field] !== undefined)
    .map(([flag, field]) => [field, timeFrom(`--${flag}`, String(values[field]), now)]);
  return { ...values, ...Object.fromEntries(instants) };
}
