// The curl command of an operation, as the API reference shows it: it can be pasted into a shell. Its
// body is the schema's example; what only its reader knows (`$ID`) is a variable of the shell.
import type { OpenApiDocument, Operation } from './openapi.ts';
import type { JsonSchema } from './openapi-schemas.ts';

const longestLine = 60;
const aheadMs = 7 * 24 * 3_600_000;
const instant = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/**
 * The command, one argument to a line.
 * @param now ms since 1970: instants of the example become one a week later, as nothing can be
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
  const lines = [`curl -X ${method.toUpperCase()} ${url}`, `-H "X-API-Key: $SVC_API_KEY"`];
  const content = operation.requestBody?.content ?? {};
  const schema = content['application/json']?.schema;
  const [streamed] = Object.keys(content);
  if (schema) {
    const body = exampleOf(schema, components.schemas);
    lines.push(`-H 'Content-Type: application/json'`, `-d ${bodyText(body, now)}`);
  } else if (streamed !== undefined) {
    const [, ending = ''] = streamed.split('/');
    lines.push(`-H 'Content-Type: ${streamed}'`, `-T file.${ending}`);
  }
  return lines.join(' \\\n  ');
}

/** The first example of a schema, or of the component that it names; undefined without one. */
function exampleOf(schema: JsonSchema, schemas: Record<string, JsonSchema>): unknown {
  const { $ref, examples } = schema;
  if (Array.isArray(examples)) return examples[0];
  const named = typeof $ref === 'string' ? schemas[$ref.split('/').at(-1) ?? ''] : undefined;
  return named && exampleOf(named, schemas);
}

/** On one line where it is short. */
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
