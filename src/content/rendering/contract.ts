// The input contract of a template: `contract.json`, a JSON Schema for the data of each send. Users
// write these schemas, so patterns run in linear time and references are never fetched. For
// workers: compiling a schema of 64 KB takes longer than the event loop may be blocked.
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { linearPattern } from '../../platform/runtime/workers/linear-pattern.ts';
import { TemplateProblem } from './problem.ts';

export type Contract = Readonly<Record<string, unknown>>;

const contractBounds = {
  bytes: 64 * 1024,
  depth: 32,
  /**
   * Most keywords and schemas: ajv nests code for each. 1,000 take 0.3 s; 4,000 overflow the stack.
   */
  parts: 1000,
  /** Most patterns: each takes up to 10 ms. */
  patterns: 50,
  patternCharacters: 1000,
  errors: 20,
} as const;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const schemaPattern = Object.assign((pattern: string) => linearPattern(pattern), {
  // Name for schemas that ajv writes as modules. It is required, but unused here.
  code: 'linearPattern',
});

const isDate = (text: string) => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  // `Date` turns the 30th of February into the 2nd of March, so the text is compared again.
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
};
const isTime = (text: string) =>
  /^\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/i.test(text);
const isUrl = (text: string) => text.length <= 4096 && URL.canParse(text);

/** Formats that are checked, in linear time. */
const formats: Record<string, (text: string) => boolean> = {
  date: isDate,
  'date-time': (text) =>
    isDate(text.slice(0, 10)) && /^t$/i.test(text.charAt(10)) && isTime(text.slice(11)),
  time: isTime,
  email: (text) => text.length <= 320 && /^[^\s@<>()[\]\\,;:"]+@[^\s@<>()[\]\\,;:"]+$/.test(text),
  uri: isUrl,
  uuid: (text) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text),
};
/** Formats of JSON Schema that are annotations without a check, as 2020-12 allows. */
const notedFormats = [
  ...['duration', 'hostname', 'idn-email', 'idn-hostname', 'ipv4', 'ipv6', 'iri', 'iri-reference'],
  ...['json-pointer', 'regex', 'relative-json-pointer', 'uri-reference', 'uri-template'],
];

function makeAjv(allErrors: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors,
    strict: false,
    strictSchema: true,
    // Needless: `checkContract` validates the schema. Meta-schemas would take 20 ms to compile.
    meta: false,
    validateSchema: false,
    validateFormats: true,
    addUsedSchema: false,
    inlineRefs: false,
    code: { regExp: schemaPattern },
    logger: false,
  });
  for (const [name, check] of Object.entries(formats)) ajv.addFormat(name, check);
  for (const name of notedFormats) ajv.addFormat(name, true);
  return ajv;
}

let metaAjv: Ajv2020 | null = null;

/** Returns the number of the first line that contains `part`; null if no line contains it. */
function lineOf(text: string, part: string): number | null {
  const at = text.indexOf(part);
  return at < 0 ? null : text.slice(0, at).split('\n').length;
}

/** Keywords whose values are data or texts, and not schemas. */
const dataKeywords = new Set([
  '$comment',
  'const',
  'default',
  'description',
  'enum',
  'examples',
  'title',
]);

function depthOf(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (most === 0) return 1;
  return 1 + Math.max(0, ...Object.values(value).map((one) => depthOf(one, most - 1)));
}

/** Counts keywords and schemas, without the data of keywords such as `enum`. */
function partsOf(schema: unknown): number {
  if (typeof schema !== 'object' || schema === null) return 1;
  let parts = 1;
  for (const [key, value] of Object.entries(schema)) {
    if (!dataKeywords.has(key)) parts += partsOf(value);
  }
  return parts;
}

/**
 * Refuses parts that ajv would accept: references out of the document, `$data`, `$async`, too many
 * patterns, and patterns that RE2 lacks. @throws TemplateProblem
 */
function checkParts(
  schema: unknown,
  source: { text: string; path: string; patterns: number },
  place = '',
): void {
  if (typeof schema !== 'object' || schema === null) return;
  const { text, path } = source;
  const fail = (part: string, problem: string): never => {
    throw new TemplateProblem(path, lineOf(text, part), `${place || '/'}: ${problem}`);
  };
  for (const [key, value] of Object.entries(schema)) {
    const isReference = key === '$ref' || key === '$dynamicRef' || key === '$recursiveRef';
    if (isReference && typeof value === 'string' && !value.startsWith('#')) {
      fail(JSON.stringify(value), `${key} leads to another document: give one that begins with #`);
    }
    if (key === '$data' || key === '$async') fail(`"${key}"`, `${key} is not supported`);
    for (const pattern of patternsIn(key, value)) {
      source.patterns += 1;
      if (source.patterns > contractBounds.patterns) {
        fail(
          JSON.stringify(pattern),
          `is beyond the ${contractBounds.patterns} patterns of a schema`,
        );
      }
      checkPattern(pattern, key, fail);
    }
    if (!dataKeywords.has(key)) {
      checkParts(value, source, `${place}/${key.slice(0, 100)}`);
    }
  }
}

function patternsIn(key: string, value: unknown): string[] {
  if (key === 'pattern' && typeof value === 'string') return [value];
  return key === 'patternProperties' && isRecord(value) ? Object.keys(value) : [];
}

function checkPattern(
  pattern: string,
  keyword: string,
  fail: (part: string, problem: string) => never,
): void {
  const { patternCharacters: most } = contractBounds;
  if (pattern.length > most) fail('', `${keyword} has at most ${most} characters`);
  try {
    linearPattern(pattern);
  } catch {
    const shown = JSON.stringify(pattern).slice(0, 120);
    fail(
      JSON.stringify(pattern),
      `${keyword} ${shown} is not a pattern of RE2, which has no lookaround and no backreferences`,
    );
  }
}

function parsedContract(text: string, path: string): Contract {
  if (Buffer.byteLength(text) > contractBounds.bytes) {
    throw new TemplateProblem(path, null, `has at most ${contractBounds.bytes / 1024} KB`);
  }
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const at = /position (\d+)/.exec(reason)?.[1];
    const line = at === undefined ? null : text.slice(0, Number(at)).split('\n').length;
    throw new TemplateProblem(path, line, `is no JSON: ${reason.slice(0, 200)}`);
  }
  if (!isRecord(schema)) throw new TemplateProblem(path, null, 'is no object: give a JSON Schema');
  return schema;
}

const dialect = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

/**
 * Checks a `contract.json` and returns the schema.
 * @throws TemplateProblem at the first problem
 */
export function checkContract(text: string, path: string): Contract {
  const schema = parsedContract(text, path);
  const { $schema } = schema;
  if ($schema !== undefined && !(typeof $schema === 'string' && dialect.test($schema))) {
    throw new TemplateProblem(path, lineOf(text, '"$schema"'), '$schema is another than 2020-12');
  }
  if (depthOf(schema, contractBounds.depth) > contractBounds.depth) {
    throw new TemplateProblem(path, null, `is nested over ${contractBounds.depth} deep`);
  }
  if (partsOf(schema) > contractBounds.parts) {
    throw new TemplateProblem(path, null, `has over ${contractBounds.parts} keywords and schemas`);
  }
  checkParts(schema, { text, path, patterns: 0 });
  metaAjv ??= new Ajv2020({ strict: false, validateFormats: false, logger: false });
  if (!metaAjv.validateSchema(withoutDialect(schema))) {
    const [error] = metaAjv.errors ?? [];
    throw new TemplateProblem(path, null, `${error?.instancePath || '/'}: ${error?.message}`);
  }
  try {
    makeAjv(false).compile(withoutDialect(schema));
  } catch (error) {
    // Ajv would follow circular references until the stack overflows.
    const loop = 'has $ref that lead to each other, and to no schema: remove one';
    const reason = error instanceof Error ? error.message : String(error);
    const problem = error instanceof RangeError ? loop : reason.slice(0, 300);
    throw new TemplateProblem(path, null, problem);
  }
  return schema;
}

const withoutDialect = ({ $schema: _, ...schema }: Contract): Contract => schema;

function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, one) => sum + sizeOf(one), 1);
}

/**
 * Limit for the product of the sizes of schema and data, up to which all errors are searched. Above
 * it only the first error is reported.
 */
const mostForAllErrors = 2_000_000;

/** Returns the name of the field of an error below `prefix`: `email.templateData.user.name`. */
function fieldOf(prefix: string, { instancePath, keyword, params }: ErrorObject): string {
  const parts = instancePath.split('/').slice(1);
  const names = parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (keyword === 'required') names.push(String(params.missingProperty));
  else if (keyword === 'additionalProperties') names.push(String(params.additionalProperty));
  else if (keyword === 'dependentRequired') names.push(String(params.missingProperty));
  return [prefix, ...names].join('.').slice(0, 300);
}

function messageOf({ keyword, message }: ErrorObject): string {
  if (keyword === 'required') return 'is missing';
  if (keyword === 'additionalProperties') return 'is no field of contract.json';
  return message ?? 'does not satisfy contract.json';
}

/** A contract as compiled by ajv, to validate the data of sends. */
export class CompiledContract {
  readonly #schema: Contract;
  readonly #size: number;
  readonly #first: ValidateFunction;
  #all: ValidateFunction | null = null;

  constructor(schema: Contract) {
    this.#schema = withoutDialect(schema);
    this.#size = sizeOf(schema);
    this.#first = makeAjv(false).compile(this.#schema);
  }

  /** Returns the errors in data by field, for at most 20 fields; null without errors. */
  errorsIn(data: unknown, prefix: string): Record<string, string[]> | null {
    if (this.#first(data)) return null;
    let validate = this.#first;
    if (this.#size * sizeOf(data) <= mostForAllErrors) {
      this.#all ??= makeAjv(true).compile(this.#schema);
      validate = this.#all;
      validate(data);
    }
    const fields: Record<string, string[]> = Object.create(null);
    for (const error of validate.errors ?? []) {
      const field = fieldOf(prefix, error);
      if (!(field in fields) && Object.keys(fields).length >= contractBounds.errors) break;
      const messages = fields[field] ?? [];
      fields[field] = messages;
      const message = messageOf(error);
      if (messages.length < 5 && !messages.includes(message)) messages.push(message);
    }
    return { ...fields };
  }
}
