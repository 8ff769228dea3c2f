// Converts zod schemas to the JSON Schemas of OpenAPI 3.1. All schemas are rendered as zod's input
// side: a client sends bodies in this form, and return values of `run` are sent unchanged. A schema
// used in both directions is therefore a single component. Schemas with `.meta({ id })` become
// components of that name.
import { z } from 'zod';

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = { [keyword: string]: unknown };

/** A field of an object schema: a parameter of a query, a path or the headers. */
export interface FieldSchema {
  name: string;
  required: boolean;
  schema: JsonSchema;
}

/** The argument of zod's `override` function. */
interface Rendering {
  zodSchema: z.core.$ZodType;
  jsonSchema: JsonSchema;
}

const definitions = '#/$defs/';

/** Collects the named schemas of a document. */
export class SchemaBook {
  readonly components: Record<string, JsonSchema> = {};

  /** Returns the schema, with references to the components of the named parts. */
  schemaOf(schema: z.ZodType): JsonSchema {
    return this.#render(schema, 'input');
  }

  /**
   * Returns the fields of an object schema. Shows the output side if possible: in a query `limit`
   * arrives as text and becomes an integer, and readers need the integer.
   */
  fieldsOf(schema: z.ZodType): FieldSchema[] {
    if (!(schema instanceof z.ZodObject)) throw new Error('Parameters need an object schema');
    return Object.entries(schema.shape).map(([name, field]) => ({
      name,
      required: !(field as z.ZodType).safeParse(undefined).success,
      schema: this.#renderField(field as z.ZodType),
    }));
  }

  #renderField(field: z.ZodType): JsonSchema {
    try {
      return this.#render(field, 'output');
    } catch {
      return this.#render(field, 'input');
    }
  }

  #render(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const { $schema, $defs, ...root } = z.toJSONSchema(schema, { io, override });
    for (const [name, definition] of Object.entries($defs ?? {})) this.#add(name, definition);
    return withComponentRefs(root) as JsonSchema;
  }

  #add(name: string, definition: unknown): void {
    const component = withComponentRefs(definition) as JsonSchema;
    const known = this.components[name];
    if (name.startsWith('__')) throw new Error('A recursive schema needs an id');
    if (known && JSON.stringify(known) !== JSON.stringify(component)) {
      throw new Error(`Two different schemas are called ${name}`);
    }
    this.components[name] = component;
  }
}

/**
 * Returns a complete schema of an input, with the named parts in `$defs`. A field that only exists
 * as an output accepts anything.
 */
export function ownSchemaOf(schema: z.ZodType): JsonSchema {
  const options = { io: 'input', unrepresentable: 'any', override } as const;
  const { $schema, $ref, $defs, ...root } = z.toJSONSchema(schema, options);
  const name = $ref?.slice(definitions.length) ?? '';
  const whole = ($defs?.[name] ?? root) as JsonSchema;
  const isNeeded = $defs && JSON.stringify([whole, $defs]).includes(`"${definitions}`);
  return withoutComponents(isNeeded ? { ...whole, $defs } : whole) as JsonSchema;
}

/**
 * Removes zod's patterns for dates, which fill half a page and add nothing to the format. Restores
 * the examples of transformed schemas: zod expects results in them and drops them, but our examples
 * are input.
 */
function override({ zodSchema, jsonSchema }: Rendering): void {
  const examples = z.globalRegistry.get(zodSchema as z.ZodType)?.examples;
  if (examples !== undefined) jsonSchema.examples = examples;
  if (jsonSchema.format === 'date-time' || jsonSchema.format === 'date') delete jsonSchema.pattern;
  const anyOf = jsonSchema.anyOf as JsonSchema[] | undefined;
  if (!anyOf) return;
  const isAnything = anyOf.some((option) => Object.keys(option).length === 0);
  if (isAnything) delete jsonSchema.anyOf;
  else liftDescription(jsonSchema, anyOf);
}

/** Moves the description of a schema that may be null to the whole schema, where readers look. */
function liftDescription(whole: JsonSchema, anyOf: JsonSchema[]): void {
  const [option, ...more] = anyOf.filter(({ type }) => type !== 'null');
  if (!option || more.length > 0 || whole.description !== undefined || '$ref' in option) return;
  const { description, ...rest } = option;
  if (description === undefined) return;
  whole.description = description;
  // Copies the schema: zod uses the same object at every place with the same schema.
  whole.anyOf = anyOf.map((each) => (each === option ? rest : each));
}

/**
 * Replaces references to components of the document: a schema outside of the document lacks them.
 */
function withoutComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutComponents);
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value && String(value.$ref).startsWith('#/components/')) {
    return { type: 'object', description: String(value.$ref).split('/').at(-1) };
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, withoutComponents(one)]),
  );
}

function withComponentRefs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withComponentRefs);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [
      key,
      key === '$ref' && typeof entry === 'string' && entry.startsWith(definitions)
        ? `#/components/schemas/${entry.slice(definitions.length)}`
        : withComponentRefs(entry),
    ]),
  );
}
