// Schemas in the reference: a table of fields by dotted path, and types in words with links.
import { escapeHtml } from '../../../src/platform/net/escape-html.ts';
import { inline, table } from './docs-page.ts';
import type { JsonSchema } from './openapi-schemas.ts';

const deepestFields = 6;

/** Returns the URL of the section with a named schema. */
export type SchemaLink = (name: string) => string;

/** Returns the name of the component that a schema refers to. */
export function referredName({ $ref }: JsonSchema): string | undefined {
  return typeof $ref === 'string' ? $ref.split('/').at(-1) : undefined;
}

/** Draws a table of fields; for a schema without fields, a paragraph with the type. */
export function drawFields(schema: JsonSchema, linkOf: SchemaLink): string {
  const rows = fieldRows(schema, '', linkOf);
  return rows.length === 0
    ? `<p>${typeText(schema, linkOf)}</p>`
    : table(['Field', 'Type', ''], rows);
}

/** Returns a row for each field, by dotted path. The path of a field in a list contains `0`. */
export function fieldRows(
  schema: JsonSchema,
  prefix: string,
  linkOf: SchemaLink,
  depth = 0,
): string[][] {
  if (depth > deepestFields) return [];
  const seen = new Set<string>();
  return alternativesOf(schema).flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties as Record<string, JsonSchema>).flatMap(([name, field]) => {
      const path = `${prefix}${name}`;
      if (seen.has(path)) return [];
      seen.add(path);
      const note = (required as string[]).includes(name) ? '' : '<br><small>optional</small>';
      const text = typeof field.description === 'string' ? field.description : '';
      const row = [
        `<code>${escapeHtml(path)}</code>${note}`,
        typeText(field, linkOf),
        inline(text),
      ];
      const lists = alternativesOf(field).flatMap(({ items }) =>
        items ? [items as JsonSchema] : [],
      );
      const inner = lists.flatMap((items) => fieldRows(items, `${path}.0.`, linkOf, depth + 1));
      return [row, ...fieldRows(field, `${path}.`, linkOf, depth + 1), ...inner];
    }),
  );
}

function alternativesOf(schema: JsonSchema): JsonSchema[] {
  return (schema.anyOf ?? schema.oneOf ?? [schema]) as JsonSchema[];
}

/** Describes a schema in words, with links to named schemas. */
export function typeText(schema: JsonSchema, linkOf: SchemaLink): string {
  const name = referredName(schema);
  if (name !== undefined) return `<a href="${escapeHtml(linkOf(name))}">${escapeHtml(name)}</a>`;
  const options = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (options) return options.map((option) => typeText(option, linkOf)).join(' or ');
  if (Array.isArray(schema.enum)) {
    return schema.enum.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(', ');
  }
  if (schema.const !== undefined) return `<code>${escapeHtml(String(schema.const))}</code>`;
  if (schema.type === 'array') {
    return `list of ${typeText((schema.items ?? {}) as JsonSchema, linkOf)}`;
  }
  const values = schema.additionalProperties;
  if (typeof values === 'object' && values) {
    return `map of ${typeText(values as JsonSchema, linkOf)}`;
  }
  return escapeHtml(plainType(schema)) + bounds(schema);
}

function plainType({ type, format }: JsonSchema): string {
  const name = Array.isArray(type) ? type.join(' or ') : String(type ?? 'anything');
  return typeof format === 'string' ? `${name} (${format})` : name;
}

const boundWords = {
  minimum: 'from',
  maximum: 'to',
  minLength: 'at least',
  maxLength: 'at most',
  default: 'default',
  pattern: 'pattern',
};

function bounds(schema: JsonSchema): string {
  const texts = Object.entries(boundWords)
    .filter(([keyword]) => schema[keyword] !== undefined)
    .map(([keyword, word]) => `${word} <code>${escapeHtml(String(schema[keyword]))}</code>`);
  return texts.length > 0 ? ` <small>${texts.join(', ')}</small>` : '';
}
