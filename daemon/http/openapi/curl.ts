// The curl command of an operation in the API reference, ready to paste into a shell. The body is
// the example of the schema. Values that only the reader knows are shell variables (`$ID`).
import type { OpenApiDocument, Operation } from './openapi.ts';
import type { JsonSchema } from './openapi-schemas.ts';

const longestLine = 60;
const aheadMs = 7 * 24 * 3_600_000;
const instant = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/**
 * Returns the command, each argument on a line.
 * @param now ms since 1970: instants of the example move to a week later, as a send cannot be
 *   scheduled for the past
 */
export function curlOf(
  { path, method, operation }: { path: string; method: string; operation: Operation },
  { components, servers }: OpenApiDocument,
  now: number,
): string {
  const url = inDoubleQuotes((servers[0]?.url ?? '') + path).replace(
    /\{(\w+)\}/g,
    (_, name: string) => `$${name.replace(/(?=[A-Z])/g, '_').toUpperCase()}`,
  );
  const lines = [`curl -X ${method.toUpperCase()} ${withQuery(url, operation)}`];
  if (!operation.security) lines.push(`-H "X-API-Key: $SVC_API_KEY"`);
  const content = operation.requestBody?.content ?? {};
  const schema = content['application/json']?.schema;
  const form = content['application/x-www-form-urlencoded']?.schema;
  const [streamed] = Object.keys(content);
  if (form) {
    const fields = exampleOf(form, components.schemas) as Record<string, string> | undefined;
    lines.push(`-d '${new URLSearchParams(fields)}'`);
  } else if (schema) {
    const body = exampleOf(schema, components.schemas);
    lines.push(`-H 'Content-Type: application/json'`, `-d ${bodyText(body, now)}`);
  } else if (streamed !== undefined) {
    const [, ending = ''] = streamed.split('/');
    lines.push(`-H 'Content-Type: ${streamed}'`, `-T file.${ending}`);
  }
  return lines.join(' \\\n  ');
}

/** Adds the required parameters of the query to a quoted URL, each with the first example. */
function withQuery(url: string, { parameters = [] }: Operation): string {
  const needed = parameters.filter((one) => one.in === 'query' && one.required);
  if (needed.length === 0) return url;
  const query = new URLSearchParams();
  for (const { name, schema } of needed) query.set(name, String(exampleOf(schema, {}) ?? ''));
  return `${url.slice(0, -1)}?${query}"`;
}

/**
 * Returns the first example of a schema, or of the component that it refers to; undefined without
 * an example.
 */
function exampleOf(schema: JsonSchema, schemas: Record<string, JsonSchema>): unknown {
  const { $ref, examples } = schema;
  if (Array.isArray(examples)) return examples[0];
  const named = typeof $ref === 'string' ? schemas[$ref.split('/').at(-1) ?? ''] : undefined;
  return named && exampleOf(named, schemas);
}

/** Formats the body, on a single line if it is short. */
function bodyText(example: unknown, now: number): string {
  if (example === undefined) return '@body.json';
  const ahead = new Date(now + aheadMs).toISOString();
  const toCome = (_key: string, value: unknown) =>
    typeof value === 'string' && instant.test(value) ? ahead : value;
  const short = JSON.stringify(example, toCome);
  const text = short.length > longestLine ? JSON.stringify(example, toCome, 2) : short;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function inDoubleQuotes(text: string): string {
  return `"${text.replace(/["\\$`]/g, '\\$&')}"`;
}
