// DNS records in the forms that DNS programs read: zone files, dig, JSON, Terraform and the import
// of Cloudflare.
import type { DnsRecord } from './schema.ts';

export const dnsForms = ['table', 'zone', 'dig', 'json', 'terraform', 'cloudflare'] as const;

export type DnsForm = (typeof dnsForms)[number];

/** A record to publish. The value of an MX begins with the preference. */
type Published = Pick<DnsRecord, 'name' | 'type' | 'value'>;

/** Domain of the records, and whether names are relative to the domain. */
export interface FormOptions {
  domain: string;
  isRelative: boolean;
}

/** Seconds for which resolvers may keep a record. */
const ttl = 3_600;
/** Most octets of a string of a TXT record (RFC 1035, 3.3). */
const longestString = 255;

/**
 * Returns the part of a name in front of the domain. Returns `@` for the domain itself, and the
 * whole name if it is outside of the domain.
 */
function relativeName(name: string, domain: string): string {
  if (name === domain) return '@';
  return name.endsWith(`.${domain}`) ? name.slice(0, -domain.length - 1) : name;
}

function isBelow(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}

/** Splits a text into strings of at most 255 octets. Records are ASCII. */
function stringsOf(value: string): string[] {
  const strings: string[] = [];
  for (let at = 0; at < value.length; at += longestString) {
    strings.push(value.slice(at, at + longestString));
  }
  return strings.length > 0 ? strings : [''];
}

/** Quotes a string in the syntax of zone files (RFC 1035, 5.1). */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** Returns the data of a record in the syntax of zone files, with absolute host names. */
function dataOf({ type, value }: Published): string {
  return type === 'TXT' ? stringsOf(value).map(quoted).join(' ') : `${value}.`;
}

/** Returns the name at the beginning of a line of a zone file. */
function ownerOf(name: string, { domain, isRelative }: FormOptions): string {
  return isRelative && isBelow(name, domain) ? relativeName(name, domain) : `${name}.`;
}

function lineOf(record: Published, options: FormOptions): string {
  const { name, type } = record;
  return [ownerOf(name, options), ttl, 'IN', type, dataOf(record)].join('\t');
}

/**
 * Returns a zone file (RFC 1035, 5), with `comment` behind each record. Begins with the origin if
 * names are relative.
 */
function zoneOf(records: readonly Published[], options: FormOptions, comment = ''): string {
  const head = options.isRelative ? [`$ORIGIN ${options.domain}.`] : [];
  return [...head, ...records.map((record) => lineOf(record, options) + comment)].join('\n');
}

/** Returns the lines that dig will print once the records are published. */
function digOf(records: readonly Published[], { domain }: FormOptions): string {
  return zoneOf(records, { domain, isRelative: false });
}

/** Returns the import file of Cloudflare: a zone file that marks each record as not proxied. */
function cloudflareOf(records: readonly Published[], options: FormOptions): string {
  return zoneOf(records, options, ' ; cf_tags=cf-proxied:false');
}

/** Splits an MX value into preference and host. */
function exchangeOf(value: string): { priority: number; host: string } {
  const [preference = '0', host = ''] = value.split(' ');
  return { priority: Number(preference), host };
}

/** Returns the records as a list of plain objects. */
function jsonOf(records: readonly Published[], { domain, isRelative }: FormOptions): string {
  const shown = records.map(({ name, type, value }) => {
    const { priority, host } = exchangeOf(value);
    return {
      name: isRelative ? relativeName(name, domain) : name,
      type,
      ttl,
      ...(type === 'MX' ? { priority, value: host } : { value }),
    };
  });
  return JSON.stringify(shown, null, 2);
}

/** Quotes a text in the syntax of HCL. Escapes `${` and `%{`, which would begin a template. */
function hclText(text: string): string {
  return JSON.stringify(text).replace(/[$%](?=\{)/g, '$&$&');
}

/** Returns a name for a Terraform resource. `place`, the index of the record, makes it unique. */
function resourceName({ name, type }: Published, place: number): string {
  const words = `${name}_${type}`.toLowerCase().replace(/[^a-z0-9]+/g, '_');
  return `svc_${words}_${place}`;
}

function resourceOf(kind: string, name: string, fields: readonly (readonly [string, string])[]) {
  const width = Math.max(...fields.map(([field]) => field.length));
  const lines = fields.map(([field, value]) => `  ${field.padEnd(width)} = ${value}`);
  return [`resource "${kind}" "${name}" {`, ...lines, '}'].join('\n');
}

/** Returns the value for Route 53: a long text becomes several strings within a single value. */
function route53Value({ type, value }: Published): string {
  return type === 'TXT' ? stringsOf(value).join('" "') : value;
}

/** Returns resources for AWS and for Cloudflare. Users keep the resources of their provider. */
function terraformOf(records: readonly Published[], { domain, isRelative }: FormOptions): string {
  const nameOf = (name: string) => hclText(isRelative ? relativeName(name, domain) : name);
  const sets = [...Map.groupBy(records, ({ name, type }) => `${name} ${type}`).values()];
  const aws = sets.flatMap((set, place) => {
    const [first] = set;
    if (!first) return [];
    const values = set.map((record) => hclText(route53Value(record))).join(', ');
    return resourceOf('aws_route53_record', resourceName(first, place), [
      ['zone_id', 'var.route53_zone_id'],
      ['name', first.name === domain && isRelative ? '""' : nameOf(first.name)],
      ['type', hclText(first.type)],
      ['ttl', String(ttl)],
      ['records', `[${values}]`],
    ]);
  });
  const cloudflare = records.map((record, place) => {
    const { name, type, value } = record;
    const { priority, host } = exchangeOf(value);
    return resourceOf('cloudflare_record', resourceName(record, place), [
      ['zone_id', 'var.cloudflare_zone_id'],
      ['name', nameOf(name)],
      ['type', hclText(type)],
      ['ttl', String(ttl)],
      ['content', hclText(type === 'MX' ? host : value)],
      ...(type === 'MX' ? ([['priority', String(priority)]] as const) : []),
      ['proxied', 'false'],
    ]);
  });
  return [
    '# Keep the resources of your provider, and set the id of your zone.',
    'variable "route53_zone_id" {}',
    ...aws,
    'variable "cloudflare_zone_id" {}',
    ...cloudflare,
  ].join('\n\n');
}

const forms = {
  zone: (records: readonly Published[], options: FormOptions) => zoneOf(records, options),
  dig: digOf,
  json: jsonOf,
  terraform: terraformOf,
  cloudflare: cloudflareOf,
};

/** Returns records as text in a form that a program reads. */
export function dnsText(
  form: keyof typeof forms,
  records: readonly Published[],
  options: FormOptions,
): string {
  return forms[form](records, options);
}

/** Returns records for a table. With `isRelative` the names are relative to the domain. */
export function rowsOf<Row extends Published>(
  records: readonly Row[],
  { domain, isRelative }: FormOptions,
): Row[] {
  return records.map((record) => ({
    ...record,
    name: isRelative ? relativeName(record.name, domain) : record.name,
  }));
}
