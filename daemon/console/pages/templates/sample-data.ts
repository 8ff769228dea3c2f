// Sample data of a template as fields: a labelled input for each text, number, yes or no, and list
// of texts; all other values as JSON in a single field.
import { html, type Part } from '../../html.ts';
import type { Asked } from '../../page.ts';
import { choice, field, jsonIn } from '../../parts/form.ts';

type Values = Readonly<Record<string, unknown>>;
type Kind = 'text' | 'number' | 'check' | 'lines';

/** Names that the service fills at each send. */
const ours = ['contact', 'sender', 'brand', 'message', 'unsubscribe_url', 'view_url'];
const longLine = 60;

function isValues(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads a JSON file of a template; an empty object for a file that holds no object. */
function objectIn(text: string | undefined): Values {
  try {
    const read: unknown = JSON.parse(text ?? '{}');
    return isValues(read) ? read : {};
  } catch {
    return {};
  }
}

function valuesAt(values: Values, name: string): Values {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  return isValues(value) ? value : {};
}

const isTextList = (value: unknown) =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/**
 * Returns the kind of the field for a value; null for a value without a field, such as an object.
 */
function kindOf(value: unknown, { type, items }: Values): Kind | null {
  if (typeof value === 'string' || (value === undefined && type === 'string')) return 'text';
  if (typeof value === 'boolean' || (value === undefined && type === 'boolean')) return 'check';
  if (isTextList(value)) return 'lines';
  const isNumber = type === 'number' || type === 'integer';
  if (typeof value === 'number' || (value === undefined && isNumber)) return 'number';
  const isList = type === 'array' && isValues(items) && items['type'] === 'string';
  if (value === undefined && isList) return 'lines';
  return value === undefined && type === undefined ? 'text' : null;
}

interface Known {
  files: Readonly<Record<string, string>>;
  /** Paths of missing values, such as `order.number`. */
  missing: readonly string[];
  /** Values that the person typed; null before the form is sent. */
  typed: Values | null;
}

function inputOf(
  name: string,
  kind: Kind,
  value: unknown,
  rule: Values,
  isRequired: boolean,
): Part {
  const label = String(rule['title'] ?? name);
  const hint = rule['description'] === undefined ? null : String(rule['description']);
  const text = isTextList(value) ? (value as string[]).join('\n') : String(value ?? '');
  const own = { name: `${kind}:${name}`, label, value: text, isRequired, hint };
  if (kind === 'check') {
    const options = [
      ['true', 'yes'],
      ['false', 'no'],
    ] as const;
    return choice({ ...own, options, empty: 'not given' });
  }
  if (kind === 'number') return field({ ...own, type: 'number', step: 'any' });
  if (kind === 'lines')
    return field({ ...own, type: 'textarea', rows: 3, hint: hint ?? 'One a line' });
  const isLong = text.length > longLine || text.includes('\n');
  return field({ ...own, ...(isLong && { type: 'textarea', rows: 3 }) });
}

/** Draws the values of a template as fields, by `contract.json`, `sample.json` and typed values. */
export function sampleFields({ files, missing, typed }: Known): Part {
  const contract = objectIn(files['contract.json']);
  const rules = valuesAt(contract, 'properties');
  const required = [contract['required']].flat();
  const values = { ...objectIn(files['sample.json']), ...typed };
  const [nested, plain] = [
    missing.filter((path) => path.includes('.')),
    missing.filter((path) => !path.includes('.')),
  ];
  const names = [...new Set([...Object.keys(rules), ...Object.keys(values), ...plain])];
  const drawn: Part[] = [];
  const rest: Record<string, unknown> = {};
  for (const name of names.filter((one) => !ours.includes(one))) {
    const rule = valuesAt(rules, name);
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    const kind = kindOf(value, rule);
    if (kind) drawn.push(inputOf(name, kind, value, rule, required.includes(name)));
    else if (value !== undefined) rest[name] = value;
    else rest[name] = rule['type'] === 'array' ? [] : {};
  }
  for (const path of nested) {
    const [root = '', ...below] = path.split('.');
    const isSimple = below.length === 1 && !ours.includes(root) && isValues(rest[root] ?? {});
    if (isSimple) rest[root] = { [below[0] ?? '']: '', ...(rest[root] as Values | undefined) };
  }
  const text = Object.keys(rest).length === 0 ? '' : JSON.stringify(rest, null, 2);
  const isEmpty = drawn.length === 0 && text === '';
  return html`${drawn}${isEmpty && html`<p class="soft">The template asks for no values.</p>`}
    ${text !== '' && field({ name: 'data', label: 'Further values, as JSON', type: 'textarea', value: text, rows: 8 })}`;
}

function valueIn(kind: string, text: string): unknown {
  if (kind === 'check') return text === 'true';
  if (kind === 'lines') return text.split(/\r?\n/).filter((line) => line.trim() !== '');
  // The template refuses a text in the place of a number.
  return kind === 'number' && !Number.isNaN(Number(text)) ? Number(text) : text;
}

/** Returns the values that a request has for the fields; null for a request without values. */
export function typedValues({ query }: Pick<Asked, 'query'>): Values | null {
  const rest = jsonIn(query['data'], 'Further values');
  const fields = Object.entries(query).flatMap(([own, text]) => {
    const [, kind = '', name = ''] = /^(text|number|check|lines):(.+)$/s.exec(own) ?? [];
    return name === '' ? [] : [{ name, text, kind }];
  });
  if (rest === null && fields.length === 0) return null;
  const given = fields.filter(({ text }) => text !== '');
  return Object.fromEntries([
    ...Object.entries(rest ?? {}),
    ...given.map(({ name, kind, text }) => [name, valueIn(kind, text)] as const),
  ]);
}
